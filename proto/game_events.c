/// The bits of game events.
#include "proto/game_events.h"

#include "hindcast/check.h"

enum { LAST_GROUP = 4, TICKS_GROUP = 2, GAP_GROUP = 2 };

/// The bits of the numbers below `count`.
static unsigned width(uint32_t count) {
    unsigned bits = 0;
    while (count > 1 && (count - 1) >> bits != 0)
        bits++;
    return bits;
}

static unsigned entity_bits(const struct hc_world *world) {
    return width(world->entities);
}

static unsigned kind_bits(const struct hc_world *world) {
    return width(world->game->event_kind_count);
}

uint32_t hc_game_events_bits(const struct hc_world *world, unsigned kind) {
    return 1u + entity_bits(world) + kind_bits(world) + world->game->event_kinds[kind].bits;
}

void hc_game_events_put(struct hc_bits_writer *bits, hc_tick final, hc_tick last, uint32_t count) {
    HC_ASSERT(last <= final && count >= 1 && count <= HC_GAME_EVENTS_TICKS && last >= count - 1);
    hc_bits_put(bits, 1, 1);
    hc_bits_put_number(bits, final - last, LAST_GROUP);
    hc_bits_put_number(bits, count - 1, TICKS_GROUP);
}

void hc_game_events_put_event(struct hc_bits_writer *bits, const struct hc_world *world,
                              hc_entity entity, hc_game_event event) {
    unsigned kind = hc_game_event_kind(event);
    hc_bits_put(bits, 1, 1);
    hc_bits_put(bits, entity, entity_bits(world));
    hc_bits_put(bits, kind, kind_bits(world));
    hc_bits_put(bits, hc_game_event_number(event), world->game->event_kinds[kind].bits);
}

void hc_game_events_put_end(struct hc_bits_writer *bits) {
    hc_bits_put(bits, 0, 1);
}

void hc_game_events_put_early(struct hc_bits_writer *bits, hc_tick before, hc_tick tick) {
    HC_ASSERT(tick < before);
    hc_bits_put(bits, 1, 1);
    hc_bits_put_number(bits, before - tick - 1, GAP_GROUP);
}

bool hc_game_events_get_early(struct hc_bits_reader *bits, hc_tick final, hc_tick shown,
                              hc_tick *tick) {
    if (!hc_bits_more(bits))
        return false;
    hc_bits_skip(bits, 1);
    uint32_t gap = hc_bits_get_number(bits, GAP_GROUP);
    hc_tick oldest = hc_tick_max(final, hc_tick_back(shown, HC_GAME_EVENTS_EARLY));
    if (*tick <= oldest || gap >= *tick - oldest - 1)
        bits->failed = true;
    else
        *tick -= gap + 1;
    return !bits->failed;
}

bool hc_game_events_get(struct hc_bits_reader *bits, hc_tick final, hc_tick *first,
                        uint32_t *count) {
    if (hc_bits_get(bits, 1) == 0)
        return false;
    uint32_t back = hc_bits_get_number(bits, LAST_GROUP);
    uint32_t more = hc_bits_get_number(bits, TICKS_GROUP);
    if (back >= HC_GAME_EVENTS_TICKS || more >= HC_GAME_EVENTS_TICKS - back || back + more > final)
        bits->failed = true;
    *count = more + 1;
    *first = final - back - more;
    return !bits->failed;
}

bool hc_game_events_get_event(struct hc_bits_reader *bits, const struct hc_world *world, bool first,
                              hc_entity *entity, hc_game_event *event) {
    if (hc_bits_get(bits, 1) == 0)
        return false;
    uint32_t e = hc_bits_get(bits, entity_bits(world)), kind = hc_bits_get(bits, kind_bits(world));
    if (e >= world->entities || kind >= world->game->event_kind_count) {
        bits->failed = true;
        return false;
    }
    hc_game_event read =
        hc_game_event_of(kind, hc_bits_get(bits, world->game->event_kinds[kind].bits));
    if (!first && (e < *entity || (e == *entity && read <= *event)))
        bits->failed = true;
    *entity = (hc_entity)e;
    *event = read;
    return !bits->failed;
}
