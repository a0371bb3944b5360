/// Measures the size of snapshots, their cost for the server and their effect on clients: matches
/// of the arena between bots, in virtual time, over links of 40 ms each way that lose 2 %.
#include "hindcast/arena.h"
#include "tests/bench/bench.h"
#include "tests/bench/bot_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ONE_WAY_US = 40000,
    LOSS_PPM = 20000,
    AIM_TICKS = 6, ///< between a bot's aims, unless it shoots
};

/// The tables that a column is in.
enum {
    SENT = 1,  ///< bytes sent, by purpose
    COSTS = 2, ///< the server's cost, and the effect on clients
    LINKS = 4, ///< figures that differ with the links
};

/// A number of a result, with its format and its name in JSON.
struct column {
    unsigned tables;
    const char *key, *head;
    int width, decimals;
    size_t offset;
};

#define COLUMN(tables, member, head, width, decimals)                                              \
    { tables, #member, head, width, decimals, offsetof(struct bench_match_result, member) }

static const struct column columns[] = {
    COLUMN(SENT | COSTS | LINKS, players, "players", 7, 0),
    COLUMN(SENT | COSTS | LINKS, snapshot_rate, "Hz", 3, 0),
    COLUMN(SENT | LINKS, in_view, "in view", 7, 1),
    COLUMN(LINKS, down_datagrams, "down/s", 6, 1),
    COLUMN(LINKS, up_datagrams, "up/s", 6, 1),
    COLUMN(SENT | LINKS, down_kbit, "down", 6, 1),
    COLUMN(SENT | LINKS, up_kbit, "up", 6, 1),
    COLUMN(SENT, bytes_each, "B/changed", 9, 2),
    COLUMN(SENT, own, "own", 5, 1),
    COLUMN(SENT | LINKS, others, "others", 6, 1),
    COLUMN(SENT, unowned, "pickups", 7, 1),
    COLUMN(SENT | LINKS, inputs, "inputs", 6, 1),
    COLUMN(SENT, names, "names", 5, 1),
    COLUMN(SENT | LINKS, corrections, "corr.", 5, 1),
    COLUMN(SENT, head, "head", 5, 1),
    COLUMN(SENT, overhead, "overh.", 6, 1),
    COLUMN(COSTS | LINKS, delta_cache, "reuse%", 6, 1),
    COLUMN(COSTS | LINKS, send_us, "us/snap", 7, 1),
    COLUMN(COSTS, work_us, "us/tick", 7, 1),
    COLUMN(COSTS, wait_ms, "wait ms", 7, 0),
    COLUMN(COSTS, error_p50, "err p50", 7, 2),
    COLUMN(COSTS | LINKS, error_p95, "err p95", 7, 2),
    COLUMN(COSTS, unseen, "unseen%", 7, 2),
    COLUMN(COSTS, right_p50, "right50", 7, 0),
    COLUMN(COSTS | LINKS, right_p95, "right95", 7, 0),
    COLUMN(COSTS, never, "never%", 6, 1),
    COLUMN(COSTS, turns, "turns/s", 7, 2),
    COLUMN(COSTS, shots, "shots/s", 7, 2),
    COLUMN(COSTS | LINKS, faults, "faults", 6, 0),
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static double value_of(const struct bench_match_result *result, const struct column *column) {
    double value;
    memcpy(&value, (const char *)result + column->offset, sizeof value);
    return value;
}

static void print_heads(unsigned table) {
    printf("%-14s", "");
    for (size_t i = 0; i < COUNT(columns); i++)
        if ((columns[i].tables & table) != 0)
            printf(" %*s", columns[i].width, columns[i].head);
    printf("\n");
}

static void print_row(unsigned table, const char *name, const struct bench_match_result *result) {
    printf("%-14s", name);
    for (size_t i = 0; i < COUNT(columns); i++)
        if ((columns[i].tables & table) != 0)
            printf(" %*.*f", columns[i].width, columns[i].decimals, value_of(result, &columns[i]));
    printf("\n");
    fflush(stdout);
}

/// Adds a row to the report; returns it, so that the caller can add members.
static json_t *report(json_t *json, const char *table, const char *name,
                      const struct bench_match_result *result) {
    json_t *object = json_pack("{s:s, s:s}", "table", table, "row", name);
    for (size_t i = 0; i < COUNT(columns); i++)
        json_object_set_new(object, columns[i].key, json_real(value_of(result, &columns[i])));
    json_array_append_new(json, object);
    return object;
}

// ---- The matches --------------------------------------------------------------------------------

/// A row of a table.
struct row {
    const char *name;
    uint16_t players;
    uint32_t view;
    uint16_t rate;
    uint32_t near_ms, far_ms; ///< one way
    uint32_t warm_up_ticks, ticks;
    uint32_t aim_ticks;        ///< 0: AIM_TICKS
    enum hc_extrapolation how; ///< the clients' best
};

static bool run(const struct row *row, struct bench_entropy *entropy,
                struct bench_match_result *result) {
    struct bench_match_config config = {.players = row->players,
                                        .view = row->view,
                                        .snapshot_rate = row->rate,
                                        .near_us = row->near_ms * 1000,
                                        .far_us = row->far_ms * 1000,
                                        .loss_ppm = LOSS_PPM,
                                        .warm_up_ticks = row->warm_up_ticks,
                                        .ticks = row->ticks,
                                        .aim_ticks =
                                            row->aim_ticks > 0 ? row->aim_ticks : AIM_TICKS,
                                        .extrapolation = row->how,
                                        .entropy = entropy};
    if (bench_match(&config, result))
        return true;
    fprintf(stderr, "the match %s of %u players could not be played\n", row->name, row->players);
    return false;
}

#define HOLD HC_EXTRAPOLATION_HOLD
#define LINEAR HC_EXTRAPOLATION_LINEAR
#define STEP HC_EXTRAPOLATION_STEP

/// Views with about 64 of the others in them, at 256 and at 1000 players.
enum { VIEW_OF_256 = 9000, VIEW_OF_1000 = 8200 };

static const struct row sizes[] = {
    {"all in view", 8, 0, 60, 40, 40, 120, 900, 0, STEP},
    {"all in view", 8, 0, 20, 40, 40, 120, 900, 0, STEP},
    {"all in view", 12, 0, 60, 40, 40, 120, 900, 0, STEP},
    {"all in view", 12, 0, 20, 40, 40, 120, 900, 0, STEP},
    {"all in view", 32, 0, 60, 40, 40, 120, 600, 0, STEP},
    {"all in view", 32, 0, 20, 40, 40, 120, 600, 0, STEP},
    {"all in view", 64, 0, 60, 40, 40, 120, 480, 0, STEP},
    {"all in view", 64, 0, 20, 40, 40, 120, 480, 0, STEP},
    {"arena's view", 256, HC_ARENA_VIEW, 60, 40, 40, 60, 90, 0, STEP},
    {"arena's view", 256, HC_ARENA_VIEW, 20, 40, 40, 60, 90, 0, STEP},
    {"arena's view", 1000, HC_ARENA_VIEW, 60, 40, 40, 36, 36, 0, STEP},
    {"arena's view", 1000, HC_ARENA_VIEW, 20, 40, 40, 36, 36, 0, STEP},
};
static const struct row growth[] = {
    {"all in view", 64, 0, 60, 40, 40, 48, 24, 0, STEP},
    {"64 in view", 256, VIEW_OF_256, 60, 40, 40, 48, 24, 0, STEP},
    {"64 in view", 1000, VIEW_OF_1000, 60, 40, 40, 48, 24, 0, STEP},
};
static const struct row latencies[] = {
    {"0 ms", 32, 0, 60, 0, 0, 120, 480, 0, STEP},
    {"100 ms", 32, 0, 60, 50, 50, 120, 480, 0, STEP},
    {"300 ms", 32, 0, 60, 150, 150, 180, 480, 0, STEP},
};
static const struct row aims[] = {
    {"each tick", 32, 0, 60, 40, 40, 120, 300, 1, STEP},
    {"10 a second", 32, 0, 60, 40, 40, 120, 300, 6, STEP},
    {"2 a second", 32, 0, 60, 40, 40, 120, 300, 30, STEP},
};
static const struct row spread[] = {
    {"all 40 ms", 64, 0, 60, 40, 40, 120, 240, 0, STEP},
    {"20..150 ms", 64, 0, 60, 20, 150, 180, 240, 0, STEP},
    {"20..150 ms", 64, 0, 20, 20, 150, 180, 240, 0, STEP},
    {"40 ms, linear", 64, 0, 60, 40, 40, 120, 240, 0, LINEAR},
    {"spread, linear", 64, 0, 60, 20, 150, 180, 240, 0, LINEAR},
    {"40 ms, hold", 64, 0, 60, 40, 40, 120, 240, 0, HOLD},
    {"spread, hold", 64, 0, 60, 20, 150, 180, 240, 0, HOLD},
};

static bool run_rows(const struct bench_options *options, const char *table, const struct row *rows,
                     size_t count, struct bench_match_result *results, json_t *json) {
    for (size_t i = 0; i < count; i++) {
        if (!bench_wants(options, table, rows[i].players))
            continue;
        if (!run(&rows[i], NULL, &results[i]))
            return false;
        report(json, table, rows[i].name, &results[i]);
    }
    return true;
}

static void print_rows(const struct bench_options *options, const char *table,
                       const struct row *rows, size_t count, unsigned shown,
                       const struct bench_match_result *results) {
    print_heads(shown);
    for (size_t i = 0; i < count; i++)
        if (bench_wants(options, table, rows[i].players))
            print_row(shown, rows[i].name, &results[i]);
}

static void print_target(const struct bench_match_result *results, unsigned players, unsigned rate,
                         double kbit) {
    for (size_t i = 0; i < COUNT(sizes); i++)
        if ((unsigned)results[i].players == players && (unsigned)results[i].snapshot_rate == rate)
            printf("target: %u players, all in view, %u snapshots/s: %.1f kbit/s down, %s %.0f\n",
                   players, rate, results[i].down_kbit,
                   results[i].down_kbit < kbit ? "under" : "MORE THAN", kbit);
}

static bool table_sizes(const struct bench_options *options, json_t *json) {
    struct bench_match_result results[COUNT(sizes)] = {0};
    if (!run_rows(options, "sizes", sizes, COUNT(sizes), results, json))
        return false;
    printf("Traffic of a client, kbit/s, and percent of the bytes down by purpose\n");
    print_rows(options, "sizes", sizes, COUNT(sizes), SENT, results);
    printf("\nThe server's cost for each snapshot and for each client and tick, and the effect\n"
           "(error of remote players in pixels; ms until a change of direction is right "
           "everywhere)\n");
    print_rows(options, "sizes", sizes, COUNT(sizes), COSTS, results);
    print_target(results, 12, 20, 24);
    print_target(results, 64, 60, 160);
    printf("\n");
    return true;
}

static bool table_links(const struct bench_options *options, const char *table, const char *title,
                        const struct row *rows, size_t count, json_t *json) {
    struct bench_match_result results[8] = {0};
    HC_ASSERT(count <= COUNT(results));
    if (!run_rows(options, table, rows, count, results, json))
        return false;
    printf("%s\n", title);
    print_rows(options, table, rows, count, LINKS, results);
    printf("\n");
    return true;
}

// ---- Entropy ------------------------------------------------------------------------------------

/// Prints the fields of a kind, FIELDS_EACH in a line.
static void print_kind(const struct bench_entropy *entropy, unsigned kind, double values) {
    enum { FIELDS_EACH = 5 };
    static const char estimates[] = {'h', 'l', 'e'}; // held, linear, extrapolated
    const struct hc_kind *of = &hc_arena.kinds[kind];
    for (unsigned f = 0; f < of->field_count; f++) {
        double there = 0, fresh = 0;
        unsigned best = bench_entropy_best(entropy, 0, kind, f, &there);
        bench_entropy_best(entropy, 1, kind, f, &fresh);
        if (f % FIELDS_EACH == 0)
            printf("%s  %-9s", f > 0 ? ",\n" : "", f > 0 ? "" : of->name);
        printf("%s%s %.3f %c", f % FIELDS_EACH > 0 ? ", " : "", of->fields[f].name,
               (there + fresh) / values, estimates[best]);
    }
    printf("\n");
}

/// Prints the rest beside fields: inputs, presence and ages.
static void print_rest(const struct bench_entropy *entropy, double values) {
    double there = bench_model_bits(&entropy->age), input = 0;
    for (unsigned f = 0; f < hc_arena.input_field_count; f++)
        input += bench_model_bits(&entropy->input[f]);
    for (unsigned k = 0; k < hc_arena.kind_count; k++) {
        there += bench_model_bits(&entropy->there[0][k]);
        there += bench_model_bits(&entropy->there[1][k]);
    }
    printf("  %-18s %8.3f\n", "input", input / values);
    printf("  %-18s %8.3f\n", "presence, ages", there / values);
}

static void print_entropy(const struct bench_entropy *entropy, const struct row *row, double sent) {
    double values = (double)entropy->values, bits = bench_entropy_bits(entropy);
    double taken = (double)entropy->taken;
    printf("Entropy: %u players, %u snapshots/s, %.0f values sent; bits of each value by an\n"
           "order-0 adaptive coder that starts empty, with the best estimate (extrapolated, held, "
           "linear)\n",
           row->players, row->rate, values);
    for (unsigned k = 0; k < hc_arena.kind_count; k++)
        print_kind(entropy, k, values);
    print_rest(entropy, values);
    printf("  %-18s %8.3f; by deltas %.3f, ratio %.3f, at most 1.35 wanted\n", "all", bits / values,
           taken / values, taken / bits);
    if (taken != sent)
        printf("  of %.0f sent bits only %.0f were measured\n", sent, taken);
    printf("\n");
}

/// Plays a match and measures its entropy, which the caller must free in any case.
static bool run_measured(const struct row *row, struct bench_entropy *entropy,
                         struct bench_match_result *result) {
    struct hc_world world;
    if (hc_world_init(&world, &hc_arena, row->players, BENCH_TICK_RATE, 0, NULL) != HC_OK)
        return false;
    bool ok = bench_entropy_init(entropy, &world) && run(row, entropy, result);
    hc_world_free(&world);
    return ok;
}

static bool table_entropy(json_t *json, const struct row *row) {
    static struct bench_entropy entropy;
    struct bench_match_result result;
    bool ok = run_measured(row, &entropy, &result);
    if (ok) {
        double ratio = (double)entropy.taken / bench_entropy_bits(&entropy);
        print_entropy(&entropy, row, result.value_bits);
        json_array_append_new(json,
                              json_pack("{s:s, s:i, s:i, s:f}", "table", "entropy", "players",
                                        row->players, "snapshot_rate", row->rate, "ratio", ratio));
    }
    bench_entropy_free(&entropy);
    return ok;
}

/// Figures that grow with the latency, kbit/s for each client.
struct growing {
    double down, values, entropy;
};

static void print_growing(const struct row *row, const struct growing *of,
                          const struct growing *from) {
    double down = of->down / from->down, values = of->values / from->values;
    double entropy = of->entropy / from->entropy;
    printf("%-14s %6.1f %6.1f %7.1f %7.2f %7.2f %7.2f %7.2f %7.2f\n", row->name, of->down,
           of->values, of->entropy, down, values, entropy, down / entropy, values / entropy);
}

/// Compares the growth of traffic with latency with that of its entropy: it should be at most 1.1
/// times as fast.
static bool table_latency(const struct bench_options *options, json_t *json) {
    static struct bench_entropy entropy;
    struct bench_match_result results[COUNT(latencies)] = {0};
    struct growing growing[COUNT(latencies)] = {0};
    for (size_t i = 0; i < COUNT(latencies); i++) {
        const struct row *row = &latencies[i];
        if (!bench_wants(options, "latency", row->players))
            return true;
        bool ok = run_measured(row, &entropy, &results[i]);
        double kbit_s = 1000.0 * row->ticks * row->players / BENCH_TICK_RATE;
        if (ok)
            growing[i] = (struct growing){.down = results[i].down_kbit,
                                          .values = (double)entropy.taken / kbit_s,
                                          .entropy = bench_entropy_bits(&entropy) / kbit_s};
        bench_entropy_free(&entropy);
        if (!ok)
            return false;
        json_t *object = report(json, "latency", row->name, &results[i]);
        json_object_set_new(object, "values_kbit", json_real(growing[i].values));
        json_object_set_new(object, "entropy_kbit", json_real(growing[i].entropy));
    }
    printf("Round-trip time: nothing may multiply with it\n");
    print_rows(options, "latency", latencies, COUNT(latencies), LINKS, results);
    printf(
        "\nkbit/s down in all, of sent values, and of those by an adaptive coder (see entropy); "
        "their "
        "ratios to the\nfirst row's, and the first two's growth against the coder's, which should "
        "be at most 1.1\n");
    for (size_t i = 0; i < COUNT(latencies); i++)
        print_growing(&latencies[i], &growing[i], &growing[0]);
    printf("\n");
    return true;
}

bool bench_snapshots(const struct bench_options *options, json_t *json) {
    static const struct row traces[] = {{"trace", 12, 0, 60, 40, 40, 120, 900, 0, STEP},
                                        {"trace", 12, 0, 20, 40, 40, 120, 900, 0, STEP},
                                        {"trace", 32, 0, 60, 40, 40, 120, 300, 0, STEP}};
    printf(
        "arena, %d Hz, input delay %d, 40 ms each way (80 ms round trip), 2 %% loss each way. Bots "
        "aim anew every\n%d ms and when they shoot, turn once in %d ms at most and shoot once in "
        "%d. Bytes are with %d of IP and\nUDP and %d of header and seal a datagram.\n\n",
        BENCH_TICK_RATE, BENCH_INPUT_DELAY, AIM_TICKS * 1000 / BENCH_TICK_RATE, BENCH_TURN_MS,
        BENCH_SHOT_MS, BENCH_IP_UDP, HC_DATA_BODY_AT + HC_TAG_SIZE);
    bool sized = options->table == NULL || strcmp(options->table, "sizes") == 0;
    if (sized && !table_sizes(options, json))
        return false;
    for (size_t i = 0; i < COUNT(traces); i++)
        if (bench_wants(options, "entropy", traces[i].players) && !table_entropy(json, &traces[i]))
            return false;
    if (!table_latency(options, json))
        return false;
    const struct {
        const char *name, *title;
        const struct row *rows;
        size_t count;
    } others[] = {
        {"growth", "Growth: as many in view, more in the world", growth, COUNT(growth)},
        {"aims", "How often the bots aim anew", aims, COUNT(aims)},
        {"spread", "Clients at one distance, and at many", spread, COUNT(spread)},
    };
    for (size_t i = 0; i < COUNT(others); i++)
        if ((options->table == NULL || strcmp(options->table, others[i].name) == 0) &&
            !table_links(options, others[i].name, others[i].title, others[i].rows, others[i].count,
                         json))
            return false;
    return true;
}
