/// The end of the process after a failed assertion.
#include "hindcast/check.h"

#include <stdio.h>
#include <stdlib.h>

HC_NORETURN void hc_check_failed(const char *file, int line, const char *condition) {
    fprintf(stderr, "%s:%d: this must hold: %s\n", file, line, condition);
    abort();
}
