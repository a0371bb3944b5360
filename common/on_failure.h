/// The reaction of a program to a failed assertion.
#pragma once

/// Lets `handler` be called in place of the message, until it is NULL: by a program that goes on
/// after a failed assertion of a game. If it returns, the message is printed and the process ends.
void hc_check_on_failure(void (*handler)(const char *file, int line, const char *condition));
