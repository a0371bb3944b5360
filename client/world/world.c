/// Owns a client's timeline: its memory, the snapshots that change it, and its ticks.
#include "client/world/world.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

enum {
    MARGIN = HC_CL_WORLD_FUTURE_MIN - HC_CL_WORLD_AHEAD_MIN
}; ///< ticks of the timeline
   ///< beyond those needed

_Static_assert(HC_PREDICTION_LIMIT_MAX + HC_DISPLAY_OFFSET_MAX + MARGIN <= HC_HISTORY_MAX &&
                   HC_INPUT_DELAY_MAX + HC_LEAD_MAX + MARGIN <= HC_FUTURE_MAX,
               "every configuration has a timeline");

// ---- Memory -------------------------------------------------------------------------------------

void hc_cl_world_init(struct hc_cl_world *world, const struct hc_client_config *config,
                      struct hc_client_stats *stats, const struct hc_client *client) {
    world->config = config;
    world->stats = stats;
    world->client = client;
}

static struct hc_timeline_config timeline_config(const struct hc_cl_world *world, uint32_t ahead) {
    const struct hc_client_config *config = world->config;
    return (struct hc_timeline_config){
        .world = &world->game_world,
        .history = config->prediction_limit + config->display_offset_max + MARGIN,
        .future = ahead + MARGIN,
        .replica = true,
        .allocator = config->allocator,
    };
}

/// Allocates the world and everything that depends on it. False when memory is short.
static bool allocate(struct hc_cl_world *world, const struct hc_welcome *welcome, uint32_t ahead) {
    const struct hc_client_config *config = world->config;
    struct hc_world *game_world = &world->game_world;
    if (hc_world_init(game_world, config->game, welcome->players, welcome->tick_rate, welcome->seed,
                      config->allocator) != HC_OK)
        return false;
    struct hc_timeline_config timeline = timeline_config(world, ahead);
    size_t shown =
        hc_cl_interpolation_layout(&world->interpolation, game_world, config->smoothing_us, NULL);
    size_t needed = shown + hc_cl_seen_layout(&world->seen, game_world, NULL);
    world->timeline = hc_timeline_create(&timeline);
    world->memory = hc_allocate(config->allocator, needed);
    world->reader = hc_cl_snapshot_reader_create(game_world, config->players);
    if (world->timeline == NULL || world->memory == NULL || world->reader == NULL)
        return false;
    hc_cl_interpolation_layout(&world->interpolation, game_world, config->smoothing_us,
                               world->memory);
    hc_cl_seen_layout(&world->seen, game_world, (uint8_t *)world->memory + shown);
    world->bytes =
        needed + hc_timeline_memory(&timeline) + hc_cl_snapshot_reader_memory(game_world) +
        game_world->entities * (sizeof *game_world->kind_of + sizeof *game_world->owner_of);
    world->stats->memory_bytes += world->bytes;
    return true;
}

void hc_cl_world_choose_display(struct hc_cl_world *world, int64_t position) {
    hc_cl_display_choose(&world->display, world->config, position);
}

bool hc_cl_world_build(struct hc_cl_world *world, const struct hc_welcome *welcome,
                       uint32_t input_delay, uint32_t ahead) {
    hc_cl_world_free(world);
    hc_cl_game_events_begin(&world->game_events, world->stats);
    world->display = hc_cl_display_begin(world->config, input_delay);
    world->rollback_ticks = 0;
    if (!allocate(world, welcome, ahead))
        return false;
    memcpy(world->own, welcome->own, sizeof world->own);
    world->own_count = welcome->own_count;
    world->interpolation.own = world->own;
    world->interpolation.own_count = world->own_count;
    return true;
}

void hc_cl_world_free(struct hc_cl_world *world) {
    if (world == NULL)
        return;
    hc_cl_snapshot_reader_destroy(world->reader);
    hc_release(world->config->allocator, world->memory);
    hc_timeline_destroy(world->timeline);
    hc_world_free(&world->game_world);
    world->reader = NULL;
    world->memory = NULL;
    world->timeline = NULL;
    world->game_world = (struct hc_world){0};
    world->stats->memory_bytes -= world->bytes;
    world->bytes = 0;
}

// ---- Reading ------------------------------------------------------------------------------------

static bool is_own(const struct hc_cl_world *world, hc_player player) {
    for (uint8_t i = 0; i < world->own_count; i++)
        if (world->own[i] == player)
            return true;
    return false;
}

/// Decodes a snapshot. One that has inputs of an own player is malformed: they are the client's.
static enum hc_status read_snapshot(struct hc_cl_world *world, const struct hc_body *body,
                                    hc_tick near, const struct hc_cl_received **out) {
    enum hc_status status = hc_cl_snapshot_reader_decode(world->reader, body, near, out);
    world->stats->hash_checks += status == HC_OK || status == HC_INVALID;
    world->stats->hash_mismatches += status == HC_INVALID;
    for (uint32_t i = 0; status == HC_OK && i < (*out)->input_count; i++)
        if (is_own(world, (*out)->inputs[i].player))
            status = HC_MALFORMED;
    return status;
}

bool hc_cl_world_reads(enum hc_message_type type) {
    return type == HC_MESSAGE_SNAPSHOT || type == HC_MESSAGE_NAMES || type == HC_MESSAGE_DIFFERS;
}

enum hc_status hc_cl_world_read(struct hc_cl_world *world, const struct hc_body *body, hc_tick near,
                                struct hc_cl_world_messages *messages) {
    switch (body->type) {
    case HC_MESSAGE_SNAPSHOT:
        return read_snapshot(world, body, near, &messages->snapshot);
    case HC_MESSAGE_NAMES:
        return hc_message_get_names(body, world->game_world.players, messages->names,
                                    &messages->name_count);
    case HC_MESSAGE_DIFFERS:
        messages->has_differs = true;
        return hc_differs_get(body, &world->game_world, &messages->differs);
    default:
        return HC_MALFORMED;
    }
}

// ---- Applying -----------------------------------------------------------------------------------

/// Puts the values of the snapshot's tick, or its corrections, into the timeline.
static void apply_values(struct hc_cl_world *world, const struct hc_cl_received *snapshot,
                         bool corrections) {
    const struct hc_world *game_world = &world->game_world;
    struct hc_entity_state states[HC_UNIT_ENTITIES_MAX];
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        const struct hc_unit_value *value = &received->value;
        uint32_t count = hc_unit_count(game_world, received->unit);
        if (received->correction != corrections)
            continue;
        for (uint32_t e = 0; e < count; e++)
            states[e] = (struct hc_entity_state){
                .entity = (hc_entity)(hc_unit_first(game_world, received->unit) + e),
                .presence = received->dropped ? HC_UNKNOWN : value->presence[e],
                .state = received->dropped ? NULL : value->states + (size_t)e * game_world->stride};
        hc_timeline_put_state(world->timeline, value->tick, snapshot->header.as_of, states, count);
        world->stats->corrections += corrections;
    }
}

/// Takes the forced inputs of a range. The server closes slots before `refused_before` by itself,
/// and newer ones because the client has given them up.
static void apply_forced(struct hc_cl_world *world, const struct hc_snapshot_forced *forced,
                         hc_tick refused_before) {
    hc_player player = world->own[forced->own];
    for (uint32_t i = 0; i < forced->count; i++) {
        hc_tick tick = forced->first + i;
        if (hc_timeline_retract(world->timeline, player, tick) != HC_OK)
            continue;
        world->stats->inputs_forced++;
        world->stats->forced_late += tick < refused_before;
    }
}

/// Puts the inputs of other players into the timeline: of each that the snapshot has, the newest
/// known one before its tick, and those beside it. Before them, joins and leaves.
static void apply_inputs(struct hc_cl_world *world, const struct hc_cl_received *snapshot) {
    struct hc_timeline *timeline = world->timeline;
    for (uint32_t i = 0; i < snapshot->roster_count; i++) {
        const struct hc_snapshot_roster *change = &snapshot->roster_changes[i];
        hc_timeline_put_roster(timeline, change->player, change->tick, change->roster_change);
    }
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        hc_player player = hc_unit_player(&world->game_world, received->unit);
        if (player != HC_NO_PLAYER && !is_own(world, player) && !received->dropped &&
            !received->correction && received->value.known != HC_NO_TICK)
            hc_timeline_put_input(timeline, player, received->value.known, received->value.input);
    }
    for (uint32_t i = 0; i < snapshot->input_count; i++)
        hc_timeline_put_input(timeline, snapshot->inputs[i].player, snapshot->inputs[i].tick,
                              snapshot->inputs[i].input);
}

/// Resimulates the changed ticks, and calls the game's hooks around it.
static void resimulate(struct hc_cl_world *world) {
    const struct hc_client_config *config = world->config;
    hc_tick first = hc_timeline_earliest(world->timeline);
    if (first != HC_NO_TICK && config->rollback_begins != NULL)
        config->rollback_begins(config->rollback_context, world->client, first);
    hc_timeline_resimulate(world->timeline);
    if (first != HC_NO_TICK && config->rollback_ended != NULL)
        config->rollback_ended(config->rollback_context, world->client, first);
}

static void predict_events(struct hc_cl_world *world) {
    hc_cl_game_events_predict(&world->game_events, world->timeline, &world->interpolation,
                              world->stats);
}

/// Puts a snapshot into the timeline. The order matters: the states move the window of ticks that
/// takes inputs; a join or a leave ends predictions from older inputs; and a forced input must be
/// gone before the older one, from which the server predicts, can take its place.
static void apply(struct hc_cl_world *world, const struct hc_cl_received *snapshot,
                  bool overtaken) {
    apply_values(world, snapshot, false);
    for (uint32_t i = 0; i < snapshot->forced_count; i++)
        apply_forced(world, &snapshot->forced[i], snapshot->header.refused_before);
    // An overtaken snapshot may have inputs of a player that has left since. Inputs that still
    // count were in the newer one too.
    if (!overtaken)
        apply_inputs(world, snapshot);
    apply_values(world, snapshot, true);
    resimulate(world);
    hc_cl_game_events_take(&world->game_events, snapshot, &world->interpolation, world->stats);
    predict_events(world);
}

static void count_snapshot(struct hc_cl_world *world, uint64_t steps_before, bool restarted) {
    const struct hc_timeline_stats *timeline = hc_timeline_stats(world->timeline);
    world->stats->snapshots++;
    if (restarted) {
        world->stats->restarts++;
    } else if (timeline->resimulated_steps == steps_before) {
        world->stats->snapshots_matched++;
    } else {
        world->stats->rollbacks++;
        hc_histogram_record(&world->stats->rollback_depth, timeline->depth);
        world->rollback_ticks = timeline->depth;
    }
}

/// Takes the first snapshot: the timeline begins at its tick, also if it has no value of it.
static void begin(struct hc_cl_world *world, const struct hc_cl_received *snapshot) {
    hc_timeline_put_state(world->timeline, snapshot->header.tick, snapshot->header.as_of, NULL, 0);
    apply(world, snapshot, false);
    world->stats->snapshots++;
    world->stats->snapshots_matched++;
}

bool hc_cl_world_take(struct hc_cl_world *world, const struct hc_cl_received *snapshot,
                      bool overtaken, int64_t position, uint64_t now_us) {
    struct hc_timeline *timeline = world->timeline;
    if (!hc_timeline_started(timeline)) {
        begin(world, snapshot);
        return true;
    }
    bool restarts = snapshot->header.tick > hc_timeline_head(timeline);
    uint64_t steps = hc_timeline_stats(timeline)->resimulated_steps;
    struct hc_cl_interpolation_times times = hc_cl_world_times(world, position);
    hc_cl_interpolation_capture(&world->interpolation, timeline, &times);
    apply(world, snapshot, overtaken);
    count_snapshot(world, steps, restarts);
    times = hc_cl_world_times(world, position);
    hc_cl_interpolation_correct(&world->interpolation, timeline, &times, now_us);
    return restarts;
}

// ---- Players ------------------------------------------------------------------------------------

/// The event about another player; `name` is copied, NULL: not known.
static struct hc_client_event player_event(enum hc_client_event_kind kind, hc_player player,
                                           hc_tick tick, const char *name) {
    struct hc_client_event event = {.kind = kind, .player = player, .tick = tick};
    if (name != NULL)
        memcpy(event.name, name, strlen(name));
    return event;
}

bool hc_cl_world_roster(struct hc_cl_world *world, const struct hc_snapshot_roster *change,
                        struct hc_client_event *event) {
    hc_player player = change->player;
    const char *before = hc_cl_seen_name_of(&world->seen, player);
    if (is_own(world, player) || !hc_cl_seen_roster(&world->seen, player, change->tick))
        return false;
    const char *after = hc_cl_seen_name_of(&world->seen, player);
    if (change->roster_change == HC_ROSTER_JOIN)
        *event = player_event(HC_CLIENT_EVENT_PLAYER_JOINED, player, change->tick, after);
    else // the name of the next player may have come first
        *event = player_event(HC_CLIENT_EVENT_PLAYER_LEFT, player, change->tick,
                              after == NULL ? before : NULL);
    return true;
}

void hc_cl_world_forget_names(struct hc_cl_world *world, const struct hc_cl_received *snapshot,
                              uint32_t seq) {
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        hc_player player = hc_unit_player(&world->game_world, snapshot->values[i].unit);
        if (snapshot->values[i].dropped && player != HC_NO_PLAYER)
            hc_cl_seen_forget(&world->seen, player, seq);
    }
}

bool hc_cl_world_name(struct hc_cl_world *world, const struct hc_player_name *name, uint32_t seq,
                      struct hc_client_event *event) {
    if (!hc_cl_seen_name(&world->seen, name, seq))
        return false;
    *event = player_event(HC_CLIENT_EVENT_PLAYER_NAMED, name->player, 0,
                          hc_cl_seen_name_of(&world->seen, name->player));
    return true;
}

// ---- Ticks --------------------------------------------------------------------------------------

hc_tick hc_cl_world_head(const struct hc_cl_world *world) {
    return hc_timeline_head(world->timeline);
}

void hc_cl_world_put_input(struct hc_cl_world *world, unsigned index, hc_tick tick,
                           const void *input) {
    hc_timeline_put_input(world->timeline, world->own[index], tick, input);
}

void hc_cl_world_advance(struct hc_cl_world *world, hc_tick head, hc_tick newest) {
    HC_ASSERT(hc_cl_world_head(world) + 1 == head);
    resimulate(world); // inputs of ticks before the head were stamped
    hc_timeline_advance(world->timeline);
    hc_cl_display_predicted(&world->display, head, newest);
    predict_events(world);
}

struct hc_cl_interpolation_times hc_cl_world_times(const struct hc_cl_world *world,
                                                   int64_t position) {
    return hc_cl_display_times(&world->display, world->timeline, position);
}

void hc_cl_world_show_events(struct hc_cl_world *world, int64_t position) {
    struct hc_cl_interpolation_times times = hc_cl_world_times(world, position);
    hc_cl_game_events_show(&world->game_events, &world->interpolation, &times, world->stats);
}
