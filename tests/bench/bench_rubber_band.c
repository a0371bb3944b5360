/// Compares a client's predictions of itself with the server's final states, once with snapshots of
/// T = A + 1 and once, as the counter-example, with snapshots of the head. One player, input delay
/// 0, 150 ms each way, in virtual time.
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/bench/bench.h"
#include "tests/sim/players.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SECONDS = 30,
    RATE = 60,
    TICKS = SECONDS * RATE,
    WARM_UP = 3 * RATE,
    LATENCY_MS = 150,
    SHOWN_FROM = 8 * RATE, // the part that is drawn
    SHOWN_TICKS = 3 * RATE,
};

struct position {
    int x, y; // units of the arena
    bool alive;
};

struct run {
    hc_tick predicted_to, final_to;
    struct position predicted[TICKS + 1], final[TICKS + 1];
};

static struct position position_of(const struct hc_timeline *tl, const struct hc_world *world,
                                   hc_tick tick) {
    hc_entity self = hc_world_player(world, 0);
    const struct hc_arena_player *player =
        (const void *)(hc_timeline_states(tl, tick) + (size_t)self * world->stride);
    return (struct position){
        .x = player->x, .y = player->y, .alive = hc_timeline_presence(tl, tick)[self] == HC_ALIVE};
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    uint64_t r = hc_random(11, tick / 15, 0, 0); // four changes of direction a second
    (void)context, (void)sim, (void)client, (void)index;
    *(struct hc_arena_input *)input = (struct hc_arena_input){
        .move_x = (int8_t)((int)(r % 3) - 1), .move_y = (int8_t)((int)(r / 3 % 3) - 1)};
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct run *run = context;
    const struct hc_timeline *tl = hc_client_timeline(hc_sim_client(sim, client));
    if (tl == NULL || !hc_timeline_started(tl))
        return;
    hc_tick head = hc_tick_min(hc_timeline_head(tl), TICKS);
    hc_tick first = hc_tick_max(run->predicted_to + 1, hc_timeline_oldest(tl));
    for (hc_tick t = first; t <= head; t++) {
        run->predicted[t] = position_of(tl, hc_client_world(hc_sim_client(sim, client)), t);
        run->predicted_to = t;
    }
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct run *run = context;
    const struct hc_timeline *tl = hc_server_timeline(hc_sim_host(sim));
    struct hc_world world = {0};
    hc_tick final = hc_tick_min(hc_sv_host_final(hc_sim_host(sim), NULL), TICKS);
    if (hc_world_init(&world, &hc_arena, 1, RATE, 0, NULL) != HC_OK)
        return;
    for (hc_tick t = run->final_to + 1; t <= final; t++) {
        run->final[t] = position_of(tl, &world, t);
        run->final_to = t;
    }
    hc_world_free(&world);
}

static bool run_match(struct run *run, bool show_head) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, LATENCY_MS, 1);
    config.host.tick_rate = RATE;
    config.host_test.show_head = show_head;
    hc_sim_fix_delays(&config.client, 0, 0);
    config.hooks = (struct hc_sim_hooks){
        .script = script, .client_changed = client_changed, .host_ticked = host_ticked};
    config.context = run;
    struct hc_sim *sim = hc_sim_create(&config);
    bool ok = sim != NULL && hc_sim_connect(sim, 0);
    if (ok)
        hc_sim_run_until(sim, (SECONDS + 2) * SECOND_US);
    hc_sim_destroy(sim);
    return ok && run->final_to == TICKS && run->predicted_to == TICKS;
}

static void report(const char *name, const struct run *run) {
    unsigned wrong = 0, count = 0;
    double sum = 0, most = 0;
    for (hc_tick t = WARM_UP; t <= TICKS; t++) {
        const struct position *predicted = &run->predicted[t], *truth = &run->final[t];
        if (!predicted->alive || !truth->alive)
            continue;
        double dx = abs(predicted->x - truth->x), dy = abs(predicted->y - truth->y);
        double error = (dx > dy ? dx : dy) / HC_ARENA_PIXEL;
        count++;
        wrong += error > 0;
        sum += error;
        most = error > most ? error : most;
    }
    printf("%-22s %9u %9u %8.1f %% %12.1f %12.1f\n", name, count, wrong, 100.0 * wrong / count,
           wrong > 0 ? sum / wrong : 0.0, most);
}

// ---- The picture --------------------------------------------------------------------------------

static void draw_line(FILE *svg, const struct position *positions, int low, double scale,
                      const char *style) {
    fprintf(svg, "<polyline fill=\"none\" %s points=\"", style);
    for (hc_tick t = 0; t <= SHOWN_TICKS; t++)
        fprintf(svg, "%.1f,%.1f ", 60 + t * 820.0 / SHOWN_TICKS,
                300 - (positions[SHOWN_FROM + t].x - low) * scale);
    fprintf(svg, "\"/>\n");
}

static bool draw(const char *path, const struct run *right, const struct run *naive) {
    FILE *svg = fopen(path, "w");
    int low = right->final[SHOWN_FROM].x, high = low;
    if (svg == NULL)
        return false;
    for (hc_tick t = SHOWN_FROM; t <= SHOWN_FROM + SHOWN_TICKS; t++) {
        int values[] = {right->final[t].x, naive->predicted[t].x};
        for (int i = 0; i < 2; i++) {
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
    }
    double scale = 250.0 / (high > low ? high - low : 1);
    fprintf(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 360\" "
                 "font-family=\"sans-serif\" font-size=\"14\">\n"
                 "<rect width=\"900\" height=\"360\" fill=\"white\"/>\n"
                 "<path d=\"M60 40V310H880\" fill=\"none\" stroke=\"#444\"/>\n"
                 "<text x=\"60\" y=\"24\">Own position as predicted, 150 ms away, input delay 0 "
                 "(x in pixels over seconds)</text>\n");
    for (int s = 0; s * RATE <= SHOWN_TICKS; s++)
        fprintf(svg, "<text x=\"%d\" y=\"330\" text-anchor=\"middle\">%d s</text>\n",
                60 + s * 820 * RATE / SHOWN_TICKS, s);
    for (int i = 0; i <= 4; i++)
        fprintf(svg, "<text x=\"52\" y=\"%d\" text-anchor=\"end\">%d</text>\n", 304 - i * 250 / 4,
                (low + (high - low) * i / 4) / HC_ARENA_PIXEL);
    draw_line(svg, right->final, low, scale, "stroke=\"#bbb\" stroke-width=\"7\"");
    draw_line(svg, naive->predicted, low, scale, "stroke=\"#d33\" stroke-width=\"1.5\"");
    draw_line(svg, right->predicted, low, scale, "stroke=\"#1559b0\" stroke-width=\"2\"");
    fprintf(svg, "<text x=\"60\" y=\"352\" fill=\"#888\">grey: the server's final states</text>\n"
                 "<text x=\"270\" y=\"352\" fill=\"#1559b0\">blue: snapshots of T, with all own "
                 "inputs</text>\n"
                 "<text x=\"580\" y=\"352\" fill=\"#d33\">red: snapshots of the server's "
                 "head</text>\n</svg>\n");
    return fclose(svg) == 0;
}

bool bench_rubber_band(const struct bench_options *options, json_t *json) {
    (void)json;
    static struct run right, naive;
    if (!run_match(&right, false) || !run_match(&naive, true)) {
        fprintf(stderr, "the matches did not reach their end\n");
        return false;
    }
    printf("arena, 1 player, %d Hz, input delay 0, 150 ms each way, %d s of virtual time\n", RATE,
           SECONDS);
    printf("%-22s %9s %9s %10s %12s %12s\n", "snapshots show", "predicted", "wrong", "share",
           "mean, px", "worst, px");
    report("T = A + 1", &right);
    report("the head (naive)", &naive);
    if (options->svg != NULL && !draw(options->svg, &right, &naive)) {
        fprintf(stderr, "%s cannot be written\n", options->svg);
        return false;
    }
    return true;
}
