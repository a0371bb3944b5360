/// hc_game_rule_hash: plays the match that identifies a game's rule.
#include "common/alloc.h"
#include "common/bytes.h"
#include "common/draw_input.h"
#include "common/timeline.h"
#include "hindcast/check.h"

#include <xxhash.h>

enum {
    PLAYERS = 8,      ///< at most
    STEPS = 30000,    ///< of entities; bounds the time
    TICKS_MIN = 8,    ///< in the largest world
    TICKS_MAX = 1800, ///< in the smallest one
    TICK_RATE = 60,   ///< Hz
    HOLD = 16,        ///< ticks for which an input is held, at most
    JOIN = 60000,     ///< ppm of the ticks at which a player that is out joins
    LEAVE = 2500,     ///< ppm of the ticks at which a player that is in leaves
    UNKNOWN =
        125000, ///< ppm of the inputs that the match does not give, so that they are predicted
};

/// A player of the match.
struct player {
    bool in;
    hc_tick until; ///< the tick of the next input
    uint8_t input[HC_INPUT_MAX];
};

struct match {
    struct hc_world world;
    struct hc_timeline *timeline;
    struct hc_rng rng;
    struct player players[PLAYERS];
};

/// Lets a player join or leave, or gives its input of this tick.
static void act(struct match *match, hc_player player) {
    struct player *p = &match->players[player];
    hc_tick head = hc_timeline_head(match->timeline);
    if (hc_rng_chance(&match->rng, p->in ? LEAVE : JOIN)) {
        p->in = !p->in;
        enum hc_status status = hc_timeline_put_roster(match->timeline, player, head,
                                                       p->in ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE);
        HC_ASSERT(status == HC_OK);
        return;
    }
    if (!p->in)
        return;
    if (head >= p->until) {
        hc_draw_input(match->world.game, &match->rng, p->input);
        p->until = head + 1 + hc_rng_below(&match->rng, HOLD);
    }
    if (!hc_rng_chance(&match->rng, UNKNOWN)) {
        enum hc_status status = hc_timeline_put_input(match->timeline, player, head, p->input);
        HC_ASSERT(status == HC_OK);
    }
}

/// Adds the game events of a tick.
static uint64_t hash_events(const struct match *match, hc_tick tick, uint64_t hash) {
    uint32_t e = 0, count, entities = match->world.entities;
    while ((e = hc_timeline_next_emitter(match->timeline, tick, e)) < entities) {
        const hc_game_event *events =
            hc_timeline_events(match->timeline, tick, (hc_entity)e++, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint8_t bytes[8];
            struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
            hc_bytes_put_u32(&writer, e);
            hc_bytes_put_u32(&writer, events[i]);
            hash = XXH3_64bits_withSeed(bytes, sizeof bytes, hash);
        }
    }
    return hash;
}

/// Plays the match; returns the chained hash of its ticks and their events.
static uint64_t play(struct match *match) {
    uint32_t ticks = STEPS / match->world.entities;
    ticks = ticks < TICKS_MIN ? TICKS_MIN : ticks > TICKS_MAX ? TICKS_MAX : ticks;
    uint64_t hash = 0;
    hc_timeline_start(match->timeline);
    for (uint32_t i = 0; i <= ticks; i++) {
        uint8_t bytes[8];
        struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
        hc_bytes_put_u64(&writer, hc_timeline_hash(match->timeline, i));
        hash = XXH3_64bits_withSeed(bytes, sizeof bytes, hash);
        hash = hash_events(match, i, hash);
        for (hc_player player = 0; player < match->world.players; player++)
            act(match, player);
        hc_timeline_advance(match->timeline);
    }
    return hash != 0 ? hash : 1;
}

uint64_t hc_game_rule_hash(const struct hc_game *game, const struct hc_allocator *allocator) {
    struct match *match = hc_allocate(allocator, sizeof *match);
    uint64_t hash = 0;
    if (match == NULL)
        return 0;
    uint16_t players = game->players_max < PLAYERS ? game->players_max : PLAYERS;
    if (hc_world_init(&match->world, game, players, TICK_RATE, 0, allocator) == HC_OK) {
        struct hc_timeline_config config = hc_timeline_config_default();
        config.world = &match->world;
        config.history = 0;
        config.future = 1;
        config.allocator = allocator;
        match->timeline = hc_timeline_create(&config);
        match->rng = hc_rng_init(0, 0);
        if (match->timeline != NULL)
            hash = play(match);
    }
    hc_timeline_destroy(match->timeline);
    hc_world_free(&match->world);
    hc_release(allocator, match);
    return hash;
}
