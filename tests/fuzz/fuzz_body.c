/// Fuzzes bodies: any bytes are pre-checked, unpacked and decoded as the messages that they claim,
/// for a client and a server of the bundled game.
#include "common/extrapolate.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "proto/compare.h"
#include "proto/value.h"
#include "proto/reliable.h"
#include "proto/game_events.h"
#include "proto/message.h"
#include "proto/notice.h"
#include "proto/snapshot.h"

#include <string.h>

enum { PLAYERS = 4, OWN_PLAYERS = 2, VALUE_MAX = 512 };

/// Takes the messages of an UNRELIABLE twice, the second time with less room.
static void read_unreliable(const struct hc_body *body) {
    struct hc_unreliable queue;
    struct hc_values values = hc_body_values(body);
    uint64_t dropped = 0;
    size_t size;
    if (hc_unreliable_check(values) != HC_OK)
        return;
    hc_unreliable_begin(&queue);
    uint32_t count = hc_unreliable_take(&queue, values, &dropped);
    count += hc_unreliable_take(&queue, values, &dropped);
    HC_ASSERT(count == hc_unreliable_count(&queue) && count + dropped == 2 * (uint64_t)values.left);
    while (hc_unreliable_next(&queue, &size) != NULL)
        HC_ASSERT(size >= 1 && size <= HC_MESSAGE_SIZE_MAX && count-- > 0);
    HC_ASSERT(count == 0);
}

/// Reads names, each of which can be shown.
static void read_names(const struct hc_body *body) {
    struct hc_player_name names[HC_NAMES_EACH];
    uint32_t count;
    if (hc_message_get_names(body, PLAYERS, names, &count) != HC_OK)
        return;
    HC_ASSERT(count >= 1 && count <= HC_NAMES_EACH);
    for (uint32_t i = 0; i < count; i++) {
        HC_ASSERT(names[i].player < PLAYERS && (i == 0 || names[i - 1].player < names[i].player));
        HC_ASSERT(hc_name_check(names[i].name, hc_name_size(names[i].name)) == HC_OK);
    }
}

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

/// Reads a value without a baseline; only the bits may fail.
static void read_value(struct hc_bits_reader *bits, const struct hc_value_codec *codec,
                       hc_unit unit, hc_tick tick, struct hc_unit_value *value) {
    static uint8_t states[VALUE_MAX];
    const struct hc_world *world = codec->world;
    struct hc_value_base base = {.how = HC_EXTRAPOLATION_STEP, .codec = codec, .unit = unit};
    HC_ASSERT(hc_unit_bytes(world) <= VALUE_MAX);
    hc_unit_place(world, value, states);
    value->tick = tick;
    hc_value_get(bits, &base, value);
    for (uint32_t e = 0; !bits->failed && e < hc_unit_count(world, unit); e++)
        read_state(world, (hc_entity)(hc_unit_first(world, unit) + e),
                   value->states + (size_t)e * world->stride);
}

static void read_inputs(struct hc_bits_reader *bits, const struct hc_value_codec *codec,
                        const struct hc_snapshot *header, const struct hc_unit_value *value) {
    uint8_t input[HC_INPUT_MAX];
    hc_tick next = header->tick - header->inputs_before, first;
    memcpy(input, value->input, sizeof input);
    for (uint32_t runs = hc_snapshot_get_runs(bits); runs > 0 && !bits->failed; runs--) {
        uint32_t count = hc_snapshot_get_run(bits, next, &first);
        HC_ASSERT(first >= next && count <= HC_INPUT_RUN_MAX);
        for (uint32_t i = 0; i < count && !bits->failed; i++)
            hc_value_get_input(bits, codec, input, input);
        next = first + count;
    }
}

static void read_units(struct hc_bits_reader *bits, const struct hc_value_codec *codec,
                       const struct hc_snapshot *header) {
    const struct hc_world *world = codec->world;
    static const struct hc_snapshot_set again = {.count = 3, .units = {0, 2, 5}}, nothing;
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = hc_snapshot_get_names(bits, world, header,
                                           header->base == HC_NO_TICK ? &nothing : &again, units);
    HC_ASSERT(count <= HC_SNAPSHOT_UNITS_MAX);
    for (uint32_t i = 0; i < count && !bits->failed; i++) {
        const struct hc_snapshot_unit *unit = &units[i];
        struct hc_unit_value value;
        HC_ASSERT(unit->unit < hc_unit_total(world) && (i == 0 || unit[-1].unit < unit->unit));
        HC_ASSERT(unit->from != HC_SNAPSHOT_OLDER || unit->as_of < header->base);
        if (unit->from == HC_SNAPSHOT_DROPPED)
            continue;
        read_value(bits, codec, unit->unit, header->tick, &value);
        if (hc_unit_player(world, unit->unit) != HC_NO_PLAYER)
            read_inputs(bits, codec, header, &value);
    }
}

static void read_corrections(struct hc_bits_reader *bits, const struct hc_value_codec *codec,
                             const struct hc_snapshot *header) {
    hc_tick at = header->tick, before = at;
    uint32_t count;
    for (; hc_snapshot_get_correction_tick(bits, before, &at, &count); before = at) {
        HC_ASSERT(at < before && count >= 1);
        hc_unit next = 0;
        for (; count > 0 && !bits->failed; count--) {
            struct hc_snapshot_correction correction;
            struct hc_unit_value value;
            hc_snapshot_get_correction(bits, codec->world, header, next, &correction);
            next = (hc_unit)(correction.unit + 1);
            if (!bits->failed)
                read_value(bits, codec, correction.unit, at, &value);
        }
    }
}

static void read_game_events(struct hc_bits_reader *bits, const struct hc_world *world,
                             const struct hc_snapshot *header) {
    hc_tick first;
    uint32_t count;
    if (!hc_game_events_get(bits, header->final, &first, &count))
        return;
    HC_ASSERT(first + count - 1 <= header->final && count <= HC_GAME_EVENTS_TICKS);
    for (uint32_t i = 0; i < count && !bits->failed; i++) {
        hc_entity entity = 0, before = 0;
        hc_game_event event = 0;
        for (bool begins = true; hc_game_events_get_event(bits, world, begins, &entity, &event);
             begins = false, before = entity)
            HC_ASSERT(entity >= before && entity < world->entities);
    }
}

static void read_early_events(struct hc_bits_reader *bits, const struct hc_world *world,
                              const struct hc_snapshot *header) {
    hc_tick tick = header->tick + 1;
    for (hc_tick before = tick; hc_game_events_get_early(bits, header->final, header->tick, &tick);
         before = tick) {
        hc_entity entity = 0;
        hc_game_event event = 0;
        HC_ASSERT(tick < before && tick > header->final &&
                  header->tick - tick < HC_GAME_EVENTS_EARLY);
        for (bool begins = true; hc_game_events_get_event(bits, world, begins, &entity, &event);
             begins = false)
            HC_ASSERT(entity < world->entities);
    }
}

static void read_snapshot(const struct hc_body *body, const struct hc_value_codec *codec,
                          hc_tick near) {
    const struct hc_world *world = codec->world;
    struct hc_bits_reader bits;
    struct hc_snapshot header;
    struct hc_snapshot_forced forced;
    struct hc_snapshot_roster roster_change;
    if (hc_snapshot_get_message(body, &bits) != HC_OK)
        return;
    hc_snapshot_get(&bits, near, OWN_PLAYERS, &header);
    HC_ASSERT(bits.failed || (header.tick <= header.as_of && header.final <= header.as_of));
    HC_ASSERT(bits.failed || header.base == HC_NO_TICK || header.base < header.as_of);
    while (hc_snapshot_get_forced(&bits, &header, &forced))
        HC_ASSERT(forced.own < OWN_PLAYERS && forced.first <= header.tick && forced.count >= 1);
    while (hc_snapshot_get_roster(&bits, world, header.tick, &roster_change))
        HC_ASSERT(roster_change.player < world->players &&
                  roster_change.roster_change != HC_ROSTER_NONE);
    read_game_events(&bits, world, &header);
    read_units(&bits, codec, &header);
    read_corrections(&bits, codec, &header);
    read_early_events(&bits, world, &header);
    (void)hc_bits_done(&bits);
}

/// Takes the events and returns all of them.
static void read_events(const struct hc_body *body) {
    static uint8_t room[HC_RELIABLE_STORE_MIN];
    static struct hc_reliable_in in;
    size_t size;
    hc_reliable_in_init(&in, 1, room, sizeof room);
    enum hc_status checked = hc_reliable_check(&in, hc_body_values(body));
    HC_ASSERT(hc_reliable_take(&in, hc_body_values(body)) == checked);
    while (hc_reliable_next(&in, &size) != NULL)
        HC_ASSERT(size >= 1 && size <= HC_MESSAGE_SIZE_MAX);
}

/// A message of a later version changes nothing.
static void check_skipped(const struct hc_body *body, const uint8_t *data, size_t size) {
    static struct hc_body longer;
    static uint8_t bytes[HC_DATA_BODY_MAX];
    if (size + 4 > sizeof bytes)
        return;
    memcpy(bytes, (const uint8_t[]){0x91, HC_MESSAGE_SKIPPED}, 2);
    memcpy(bytes + 2, data, size);
    memcpy(bytes + 2 + size, (const uint8_t[]){0x91, INT8_MAX}, 2);
    HC_ASSERT(hc_body_begin(&longer, bytes, size + 4) == HC_OK && longer.count == body->count);
    for (uint32_t i = 0; i < body->count; i++)
        HC_ASSERT(longer.types[i] == body->types[i] && longer.starts[i] == body->starts[i] + 2 &&
                  longer.ends[i] == body->ends[i] + 2);
}

/// A notice that is read can be shown and, unless its kind is a later version's, sent again.
static void read_notice(const struct hc_body *body) {
    uint32_t number;
    struct hc_notice notice;
    char line[HC_NOTICE_LINE_SIZE];
    if (hc_notice_get(body, &number, &notice) != HC_OK)
        return;
    HC_ASSERT(number >= 1 && strlen(hc_notice_line(&notice, line)) < sizeof line);
    for (const char *at = line; *at != '\0'; at++)
        HC_ASSERT((unsigned char)*at >= ' ' && *at != 0x7f);
    const char *fault = hc_notice_check(&notice);
    HC_ASSERT(fault == NULL || notice.kind == HC_NOTICE_OPERATOR || notice.kind > HC_NOTICE_RESTARTING);
}

/// Reads a question where worlds differ, and an answer with all its entities.
static void read_compare(const struct hc_body *body, const struct hc_world *world) {
    struct hc_compare compare;
    struct hc_differs differs;
    struct hc_differs_entity entity;
    struct hc_difference difference;
    char text[HC_DIFFERENCE_TEXT_MAX];
    if (hc_compare_get(body, &compare) == HC_OK)
        for (uint32_t i = 0; i < compare.count; i++)
            (void)hc_compare_is_hash(compare.hashes, i, 7);
    if (hc_differs_get(body, world, &differs) != HC_OK)
        return;
    HC_ASSERT(differs.unit < hc_unit_total(world));
    static const uint8_t zeros[HC_STATE_MAX];
    hc_entity first = hc_unit_first(world, differs.unit), e = first;
    while (hc_differs_next(&differs, world, e, &entity)) {
        HC_ASSERT(entity.presence == HC_ABSENT || entity.presence == HC_ALIVE);
        if (hc_compare_entity(world, e, HC_ALIVE, zeros, entity.presence, entity.state,
                              &difference))
            HC_ASSERT(*hc_difference_text(&difference, text, sizeof text) != '\0');
        if (++e == first + hc_unit_count(world, differs.unit))
            break;
    }
    HC_ASSERT(hc_bytes_left(&differs.values) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct hc_body body;
    static struct hc_world world;
    static struct hc_value_codec codec;
    if (world.entities == 0) {
        HC_ASSERT(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, NULL) == HC_OK);
        hc_value_codec_init(&codec, &world);
    }
    if (size > HC_DATA_BODY_MAX || hc_body_begin(&body, data, size) != HC_OK)
        return 0;
    check_skipped(&body, data, size);
    hc_tick near = 0;
    while (hc_body_next(&body) != HC_MESSAGE_END) {
        struct hc_welcome welcome;
        struct hc_input_message input;
        struct hc_input_run run;
        struct hc_ticket ticket;
        uint8_t path[HC_PATH_SIZE];
        struct hc_close close;
        (void)hc_message_get_ticket(&body, &ticket);
        (void)hc_message_get_path(&body, path);
        read_names(&body);
        read_notice(&body);
        if (body.type == HC_MESSAGE_RELIABLE)
            read_events(&body);
        if (body.type == HC_MESSAGE_UNRELIABLE)
            read_unreliable(&body);
        (void)hc_message_get_welcome(&body, world.game, &welcome);
        (void)hc_message_get_close(&body, &close);
        read_compare(&body, &world);
        if (hc_message_get_input(&body, world.game, OWN_PLAYERS, &input, &run) == HC_OK) {
            HC_ASSERT(input.force_before <= input.first && input.count <= HC_INPUT_RUN_MAX);
            read_run(&run);
        }
        read_snapshot(&body, &codec, near);
        near += 20011; // any other tick
    }
    return 0;
}
