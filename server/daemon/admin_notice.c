/// Owns the check of the parameters that become a notice.
#include "server/daemon/admin_notice.h"

#include <stdio.h>
#include <string.h>

/// Copies a text to the `size` bytes at `out`. One that is too long has no end there, so that
/// hc_notice_check refuses it.
static void copy_text(const char *text, char *out, size_t size) {
    size_t length = strlen(text);
    memset(out, 0, size);
    memcpy(out, text, length < size ? length : size);
}

bool hc_sv_admin_notice_make(struct hc_notice *notice, uint64_t seconds, const char *where,
                             const char *text, char *why, size_t why_size) {
    notice->seconds = seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX;
    copy_text(where, notice->where, sizeof(notice->where));
    copy_text(text, notice->text, sizeof(notice->text));
    const char *fault = hc_notice_check(notice);
    if (fault == NULL)
        return true;
    if (strcmp(fault, "seconds") == 0)
        snprintf(why, why_size, "seconds must be at most %d", HC_NOTICE_SECONDS_MAX);
    else if (strcmp(fault, "where") == 0)
        snprintf(why, why_size, "where must be at most %d bytes of ASCII, without spaces",
                 HC_NOTICE_WHERE_MAX);
    else
        snprintf(why, why_size,
                 "text must be one line of at most %d bytes of UTF-8 that can all be seen, without "
                 "a space at its ends",
                 HC_NOTICE_TEXT_MAX);
    return false;
}
