/// The figures of a client that the inspector shows over time.
///
/// X(key, form, unit, known, value, label): `value` of a struct hc_server_client *c, and whether it
/// is `known`. A GAUGE is shown as it is; a SUM only grows, and is shown as its growth a second.
/// Values are in thousandths of the unit.
#pragma once

#define HC_SV_INSPECTOR_COLUMNS(X)                                                                 \
    X(rtt, GAUGE, "ms", c->rtt_us != 0, c->rtt_us, "Round trip")                                   \
    X(jitter, GAUGE, "ms", c->rtt_us != 0, c->jitter_us, "Jitter")                                 \
    X(margin_low, GAUGE, "ms", c->has_margin, c->margin_low_us, "Margin of the latest inputs")     \
    X(margin, GAUGE, "ms", c->has_margin, c->margin_median_us, "Margin of inputs, median")         \
    X(late, GAUGE, "ticks", true, 1000 * (int64_t)c->usual_late_ticks, "Usual lateness of inputs") \
    X(delay, GAUGE, "ticks", true, 1000 * (int64_t)c->display_offset, "Display delay")             \
    X(down, SUM, "kB/s", true, c->bytes_sent, "Sent to the client")                                \
    X(up, SUM, "kB/s", true, c->bytes_received, "Received from the client")                        \
    X(datagrams, SUM, "/s", true, 1000 * (int64_t)c->datagrams_sent, "Datagrams sent")             \
    X(lost, SUM, "/s", true, 1000 * (int64_t)c->datagrams_lost, "Datagrams lost")                  \
    X(rewinds, SUM, "/s", true, 1000 * (int64_t)c->late_inputs, "Late inputs, which rewind")       \
    X(rewound, SUM, "ticks/s", true, 1000 * (int64_t)c->late_ticks, "Ticks that these went back")
