/// The end of the process after a failed assertion.
#include "hindcast/check.h"

#include "common/on_failure.h"

#include <stdio.h>
#include <stdlib.h>

/// Of the process, as its end is: no world has one of its own.
static void (*on_failure)(const char *file, int line, const char *condition);

void hc_check_on_failure(void (*handler)(const char *file, int line, const char *condition)) {
    on_failure = handler;
}

HC_NORETURN void hc_check_failed(const char *file, int line, const char *condition) {
    if (on_failure != NULL)
        on_failure(file, line, condition);
    fprintf(stderr, "%s:%d: this must hold: %s\n", file, line, condition);
    abort();
}
