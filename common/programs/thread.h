/// The threads of a program beside its main one, which receives the process's signals.
#pragma once

#include <pthread.h>
#include <stdbool.h>

/// The signal by which the watchdog asks a thread where it is.
int hc_thread_question(void);

/// Starts a thread that receives no signals but its own: those of its crashes, and the watchdog's.
/// False: there is no thread.
bool hc_thread_start(pthread_t *thread, void *(*run)(void *), void *context);
