/// Measures rewinds: whole worlds against copies and steps by hand, and selective against full.
#include "tests/bench/bench.h"
#include "tests/bench/dense_rewind.h"
#include "tests/bench/spread_rewind.h"

#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/// The ratios of a result; NULL if memory is short.
static json_t *dense_json(const char *table, unsigned kib, const struct dense_result *result) {
    return json_pack("{s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "table", table, "kib",
                     (int)kib, "players", (int)result->players, "entities", (int)result->entities,
                     "by_hand_us", result->rewound.by_hand / 1000, "step",
                     result->rewound.step / result->rewound.by_hand, "run",
                     result->rewound.run / result->rewound.by_hand, "in_time_by_hand_us",
                     result->in_time.by_hand / 1000, "in_time_step",
                     result->in_time.step / result->in_time.by_hand, "in_time_run",
                     result->in_time.run / result->in_time.by_hand);
}

static bool table_dense(const struct bench_options *options, const char *table,
                        const struct dense_setting *rows, size_t count, json_t *json) {
    if (!bench_wants(options, table, 0))
        return true;
    printf("%s%s. A tick with a rewind of %d ticks, and one without.\n",
           rows[0].late ? "Every input is late, and every entity is owned"
                        : "Every tick of a rewind is redone",
           rows[0].mixed ? ", players by slots of another kind" : "", DENSE_DISTANCE);
    printf("                          a rewind and a tick          a tick in time\n");
    printf("  KiB players entities   by hand us    step     run   by hand us    step     run\n");
    for (size_t i = 0; i < count; i++) {
        struct dense_result result;
        if (!dense_measure(&rows[i], &result))
            return false;
        const struct dense_times *rewound = &result.rewound, *in_time = &result.in_time;
        printf("%5u %7u %8u   %10.2f %6.2fx %6.2fx   %10.2f %6.2fx %6.2fx\n", rows[i].kib,
               result.players, result.entities, rewound->by_hand / 1000,
               rewound->step / rewound->by_hand, rewound->run / rewound->by_hand,
               in_time->by_hand / 1000, in_time->step / in_time->by_hand,
               in_time->run / in_time->by_hand);
        json_array_append_new(json, dense_json(table, rows[i].kib, &result));
    }
    printf("\n");
    return true;
}

static bool table_spread(const struct bench_options *options, json_t *json) {
    static const unsigned sizes[] = {256, 1024, 4096, 16384}, percents[] = {1, 5, 25};
    if (!bench_wants(options, "selective", 0))
        return true;
    printf("Players are late by %d ticks. Medians of what a tick resimulates.\n", SPREAD_LATE);
    printf("entities              near  late  selective us    full us    time   steps\n");
    for (size_t i = 0; i < 2 * COUNT(sizes) * COUNT(percents); i++) {
        struct spread_setting setting = {.entities = sizes[i / COUNT(percents) % COUNT(sizes)],
                                         .clustered = i >= COUNT(sizes) * COUNT(percents),
                                         .percent = percents[i % COUNT(percents)]};
        struct spread_result result;
        if (!spread_measure(&setting, &result))
            return false;
        const char *shape = setting.clustered ? "clustered" : "uniform";
        printf("%8u  %-9s %6.1f %4u%%  %12.1f %10.1f %6.3fx %6.3fx\n", setting.entities, shape,
               result.neighbours, setting.percent, result.selective_us, result.full_us,
               result.selective_us / result.full_us, result.steps / result.full_steps);
        json_array_append_new(json, json_pack("{s:s, s:i, s:s, s:f, s:i, s:f, s:f, s:f}", "table",
                                              "selective", "entities", (int)setting.entities,
                                              "shape", shape, "neighbours", result.neighbours,
                                              "late_percent", (int)setting.percent, "selective_us",
                                              result.selective_us, "full_us", result.full_us,
                                              "steps", result.steps / result.full_steps));
    }
    printf("\n");
    return true;
}

static bool table_single(const struct bench_options *options, json_t *json) {
    static const unsigned sizes[] = {256, 1024, 4096, 16384};
    if (!bench_wants(options, "single", 0))
        return true;
    printf("One input is late by %d ticks, of another player in each tick, spread evenly.\n",
           SPREAD_LATE);
    printf("entities         us   steps\n");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct spread_setting setting = {.entities = sizes[i]};
        struct spread_result result;
        if (!spread_measure(&setting, &result))
            return false;
        printf("%8u %10.2f %7.1f\n", setting.entities, result.selective_us, result.steps);
        json_array_append_new(json, json_pack("{s:s, s:i, s:f, s:f}", "table", "single", "entities",
                                              (int)setting.entities, "us", result.selective_us,
                                              "steps", result.steps));
    }
    printf("\n");
    return true;
}

bool bench_rewind(const struct bench_options *options, json_t *json) {
    static const struct dense_setting redone[] = {
        {.kib = 4, .players = 1},    {.kib = 4, .players = 2},   {.kib = 4, .players = 8},
        {.kib = 4, .players = 32},   {.kib = 64, .players = 1},  {.kib = 64, .players = 8},
        {.kib = 64, .players = 32},  {.kib = 512, .players = 1}, {.kib = 512, .players = 8},
        {.kib = 512, .players = 32},
    };
    static const struct dense_setting late[] = {{.kib = 4, .late = true},
                                                {.kib = 32, .late = true},
                                                {.kib = 64, .late = true},
                                                {.kib = 512, .late = true}};
    static const struct dense_setting mixed[] = {{.kib = 4, .late = true, .mixed = true},
                                                 {.kib = 64, .late = true, .mixed = true},
                                                 {.kib = 512, .late = true, .mixed = true}};
    printf("Entities of 64 bytes whose step is eight multiply-adds, against the same world as one "
           "array with\ncopies and steps by hand. Variants take turns, the best of several rounds "
           "counts, and all end in one state.\n\n");
    return table_dense(options, "redone", redone, COUNT(redone), json) &&
           table_dense(options, "late", late, COUNT(late), json) &&
           table_dense(options, "mixed", mixed, COUNT(mixed), json) &&
           table_spread(options, json) && table_single(options, json);
}
