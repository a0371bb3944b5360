/// Owns the counts of the marks that a match passes.
#include "tests/storm/marks.h"

#include "common/mark.h"

#include <inttypes.h>
#include <string.h>

#if HC_MARKS
// Defined by the linker.
extern struct hc_mark *const __start_hc_marks[]; // NOLINT
extern struct hc_mark *const __stop_hc_marks[];  // NOLINT

static const char *names[STORM_MARKS_MAX];
static unsigned name_count;

static unsigned index_of(const char *name) {
    unsigned i = 0;
    while (i < name_count && strcmp(names[i], name) != 0)
        i++;
    if (i == name_count && name_count < STORM_MARKS_MAX)
        names[name_count++] = name;
    return i;
}

unsigned storm_marks_count(void) {
    if (name_count == 0)
        for (struct hc_mark *const *at = __start_hc_marks; at < __stop_hc_marks; at++)
            index_of((*at)->name);
    return name_count;
}

void storm_marks_take(uint64_t *counts) {
    for (struct hc_mark *const *at = __start_hc_marks; at < __stop_hc_marks; at++) {
        unsigned i = index_of((*at)->name);
        if (i < STORM_MARKS_MAX)
            counts[i] += (*at)->count;
        (*at)->count = 0;
    }
}
#else
static const char *const names[1] = {""};

unsigned storm_marks_count(void) {
    return 0;
}

void storm_marks_take(uint64_t *counts) {
    (void)counts;
}
#endif

const char *storm_marks_name(unsigned mark) {
    return names[mark];
}

bool storm_marks_print(const uint64_t *counts, FILE *out) {
    bool all = true;
    for (unsigned i = 0; i < storm_marks_count(); i++) {
        fprintf(out, "%-28s %12" PRIu64 "%s\n", names[i], counts[i],
                counts[i] == 0 ? "  NEVER" : "");
        all = all && counts[i] > 0;
    }
    return all;
}
