/// Owns the count of the snapshots that a session was due.
#include "client/bots/due.h"

#include "common/elapsed.h"

enum {
    MISSING_MAX = 3,      ///< snapshots on their way, or between two, at the ends of a session
    MISSING_ONE_IN = 200, ///< of the due ones; with more a session is incomplete
    STARVED_ONE_IN = 20,  ///< of the due ones; with more it lacks snapshots
};

void hc_cl_due_begin(struct hc_cl_due *due, const struct hc_client_stats *stats, uint64_t lost,
                     uint64_t now_us) {
    if (due->from_us != 0 || stats->rtt_us.count == 0) // a snapshot that acks the client measures
        return;
    *due = (struct hc_cl_due){.from_us = now_us, .snapshots = stats->snapshots, .lost = lost};
}

void hc_cl_due_count(const struct hc_cl_due *due, const struct hc_client_stats *stats,
                     uint64_t lost, uint32_t rate, uint64_t now_us,
                     struct hc_cl_due_snapshots *sum) {
    if (due->from_us == 0)
        return;
    uint64_t count = hc_since(due->from_us, now_us) * rate / 1000000;
    uint64_t received = stats->snapshots - due->snapshots;
    lost -= due->lost;
    sum->sessions++;
    sum->due += count;
    sum->received += received;
    sum->lost += lost;
    sum->incomplete += received + lost + count / MISSING_ONE_IN + MISSING_MAX < count;
    sum->starved += received + lost + count / STARVED_ONE_IN + MISSING_MAX < count;
}
