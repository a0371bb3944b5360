/// The texts of statuses.
#include "hindcast/status.h"

#include <stddef.h>

static const char *const texts[HC_STATUS_COUNT] = {
    [HC_OK] = "ok",
    [HC_INVALID] = "out of range",
    [HC_MALFORMED] = "malformed",
    [HC_TRUNCATED] = "truncated",
    [HC_UNEXPECTED] = "unexpected",
    [HC_DUPLICATE] = "already known",
    [HC_TOO_OLD] = "too old",
    [HC_TOO_NEW] = "too new",
    [HC_FULL] = "full",
    [HC_NO_MEMORY] = "out of memory",
    [HC_IO] = "input or output failed",
};

const char *hc_status_text(enum hc_status status) {
    if ((unsigned)status >= HC_STATUS_COUNT || texts[status] == NULL)
        return "unknown status";
    return texts[status];
}
