/// Notices: what a server tells the people who play.
///
///     NOTICE  [112, number, kind, seconds, where, text]
///
/// A server numbers its notices from 1, and sends a client one until a DATA with it is acked, then
/// the next. A client that knows no NOTICE skips it.
#pragma once

#include "hindcast/notice.h"
#include "proto/body.h"

enum {
    /// Array 1, type 1, number 5, kind 2, seconds 5, two binaries with headers of 2.
    HC_NOTICE_SIZE_MAX = 1 + 1 + 5 + 2 + 5 + 2 + HC_NOTICE_WHERE_MAX + 2 + HC_NOTICE_TEXT_MAX,
};

/// Appends NOTICE `number`, from 1 on. False, and nothing changed: it does not fit.
/// hc_notice_check.
bool hc_notice_put(struct hc_writer *body, uint32_t number, const struct hc_notice *notice);

/// Reads NOTICE, also one whose kind is unknown. HC_MALFORMED, with `*number` and `*out`
/// unspecified.
enum hc_status hc_notice_get(const struct hc_body *body, uint32_t *number, struct hc_notice *out);
