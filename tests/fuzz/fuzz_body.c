// Any bytes as the body of a datagram: pre-checked, parsed, and read as what each message says it
// is, by a client and a server of the bundled game.
#include "common/arena/arena.h"
#include "common/check.h"
#include "proto/message.h"
#include "proto/snapshot.h"

#include <string.h>

enum { PLAYERS = 4, OWN_PLAYERS = 2, ENTITIES_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_run(struct hc_input_run *run) {
    const void *input;
    while ((input = hc_input_run_next(run)) != NULL)
        for (uint32_t f = 0; f < run->game->input_field_count; f++) {
            const struct hc_field *field = &run->game->input_fields[f];
            HC_ASSERT(hc_field_fits(field, hc_field_get(field, input)));
        }
}

static void read_state(const struct hc_world *world, hc_entity entity, const uint8_t *state) {
    const struct hc_kind *kind = hc_world_kind(world, entity);
    for (uint32_t f = 0; f < kind->field_count; f++)
        HC_ASSERT(hc_field_fits(&kind->fields[f], hc_field_get(&kind->fields[f], state)));
}

static void read_snapshot(const struct hc_body *body, const struct hc_world *world, hc_tick *tick) {
    static uint8_t presence[ENTITIES_MAX], states[ENTITIES_MAX * HC_STATE_MAX];
    struct hc_snapshot snapshot;
    HC_ASSERT(world->entities <= ENTITIES_MAX);
    if (hc_snapshot_get(body, world, &snapshot, presence, states) != HC_OK)
        return;
    HC_ASSERT(snapshot.tick <= snapshot.as_of && snapshot.final <= snapshot.as_of);
    for (uint32_t e = 0; e < world->entities; e++)
        read_state(world, (hc_entity)e, states + (size_t)e * world->stride);
    // What was read can be sent, and then takes no more than was promised.
    uint8_t room[HC_DATA_BODY_MAX];
    struct hc_writer writer = hc_bytes_writer(room, sizeof room);
    (void)hc_snapshot_put(&writer, world, &snapshot, presence, states);
    HC_ASSERT(writer.at <= hc_snapshot_worst(world));
    *tick = snapshot.tick;
}

static void read_reference(const struct hc_body *body, const struct hc_world *world, hc_tick tick) {
    struct hc_snapshot_inputs inputs;
    struct hc_snapshot_control control;
    struct hc_snapshot_forced forced;
    struct hc_snapshot_correction correction;
    if (hc_snapshot_get_inputs(body, world, tick, &inputs) == HC_OK) {
        HC_ASSERT(inputs.player < world->players);
        read_run(&inputs.run);
    }
    if (hc_snapshot_get_control(body, world, tick, &control) == HC_OK)
        HC_ASSERT(control.player < world->players && control.control != HC_CONTROL_NONE);
    if (hc_snapshot_get_forced(body, world, tick, &forced) == HC_OK)
        HC_ASSERT(forced.player < world->players && forced.first <= tick);
    if (hc_snapshot_get_correction(body, world, tick, &correction) == HC_OK) {
        HC_ASSERT(correction.tick < tick && correction.entity < world->entities);
        read_state(world, correction.entity, correction.state);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct hc_body body;
    static struct hc_world world;
    if (world.entities == 0)
        HC_ASSERT(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, NULL) == HC_OK);
    if (size > HC_DATA_BODY_MAX || hc_body_begin(&body, data, size) != HC_OK)
        return 0;
    hc_tick tick = 0;
    while (hc_body_next(&body) != HC_MESSAGE_END) {
        struct hc_welcome welcome;
        struct hc_input_message input;
        struct hc_input_run run;
        enum hc_close_reason reason;
        (void)hc_message_get_welcome(&body, world.game, &welcome);
        (void)hc_message_get_close(&body, &reason);
        if (hc_message_get_input(&body, world.game, OWN_PLAYERS, &input, &run) == HC_OK) {
            HC_ASSERT(input.force_before <= input.first && input.count <= HC_INPUT_RUN_MAX);
            read_run(&run);
        }
        read_snapshot(&body, &world, &tick);
        read_reference(&body, &world, tick);
    }
    return 0;
}
