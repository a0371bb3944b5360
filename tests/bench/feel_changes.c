/// Prints when delay and lead are right again after a change.
#include "tests/bench/feel_changes.h"

#include "tests/bench/feel_bound.h"
#include "tests/sim/path_change.h"

#include <stdio.h>

static void print_row(const struct hc_path_result *result, json_t *json) {
    printf("%-28s %6u %5u %6u | %5u %5u | %5u %5u | %6u %6u %6u %6u %6u%s\n", result->name,
           (unsigned)result->before, (unsigned)result->most, (unsigned)result->after,
           (unsigned)(result->right_us / 1000), (unsigned)(result->bound_us / 1000),
           (unsigned)(result->late_us / 1000), (unsigned)(result->late_bound_us / 1000),
           (unsigned)result->late, (unsigned)result->forced, (unsigned)result->refused,
           (unsigned)result->lost, (unsigned)result->clock_jumps,
           result->right_us <= result->bound_us && result->late_us <= result->late_bound_us &&
                   result->lost == 0
               ? ""
               : "   NOT HELD");
    json_array_append_new(
        json,
        json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "table", "changes",
                  "change", result->name, "before_ticks", (int)result->before, "most_ticks",
                  (int)result->most, "after_ticks", (int)result->after, "right_ms",
                  (int)(result->right_us / 1000), "right_ms_most", (int)(result->bound_us / 1000),
                  "late_ms", (int)(result->late_us / 1000), "late_ms_most",
                  (int)(result->late_bound_us / 1000), "late", (int)result->late, "forced",
                  (int)result->forced, "refused", (int)result->refused, "lost", (int)result->lost,
                  "clock_jumps", (int)result->clock_jumps));
}

bool feel_changes(json_t *json) {
    struct hc_path_result result;
    bool near = true;
    printf(
        "one of 4 walkers, ahead, 50 ms +- 3 each way. Input delay and lead together, in ticks; "
        "ms from the change until\nthey are right within a tick (those that rise: not too little), "
        "and until the last late input, "
        "each beside what it must be at most; late, forced, refused and "
        "lost inputs of all\n");
    printf("%-28s %6s %5s %6s | %5s %5s | %5s %5s | %6s %6s %6s %6s %6s\n", "", "before", "most",
           "after", "right", "must", "late", "must", "late", "forced", "refus.", "lost", "jumps");
    for (unsigned i = 0; i < HC_PATH_CHANGES; i++) {
        if (!hc_path_change_play((enum hc_path_change)i, &result)) {
            printf("changes: a match could not be played\n");
            return false;
        }
        print_row(&result, json);
        near = feel_is_near((double)result.right_us, (double)result.bound_us) &&
               feel_is_near((double)result.late_us, (double)result.late_bound_us) &&
               result.lost == 0 && near;
    }
    return near;
}
