/// The ticks at which inputs change, and the lists of the changes.
#include "server/replication/input_changes.h"

#include "common/alloc.h"

#include <string.h>

enum {
    KEY_BITS = 3, ///< of an input's field that counts as keys, at most
    TICKS = 64,   ///< of hc_sv_changed_ticks.changed
};

_Static_assert(HC_INPUT_MAX == 16, "an input is two words");

static struct hc_sv_input_words words_of(const uint8_t *input, size_t size) {
    struct hc_sv_input_words words = {{0}};
    memcpy(words.at, input, size);
    return words;
}

/// Ones in the bytes of the input's fields that count as keys.
static struct hc_sv_input_words key_fields(const struct hc_game *game) {
    uint8_t ones[HC_INPUT_MAX] = {0};
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        if (field->bits <= KEY_BITS && !field->shown_ago && !field->own_shown_ago)
            memset(ones + field->offset, 0xff, field->size);
    }
    return words_of(ones, sizeof ones);
}

size_t hc_sv_input_changes_layout(struct hc_sv_input_changes *changes, const struct hc_world *world,
                                  uint8_t *base) {
    size_t used = 0;
    changes->world = world;
    changes->keys = key_fields(world->game);
    changes->players = hc_carve(base, &used, world->players * sizeof *changes->players);
    return used;
}

void hc_sv_input_changes_begin(struct hc_sv_input_changes *changes) {
    for (hc_player p = 0; p < changes->world->players; p++)
        changes->players[p] = (struct hc_sv_changed_ticks){.head = HC_NO_TICK};
}

/// Whether two inputs differ in fields that count as keys.
static bool keys_differ(const struct hc_sv_input_changes *changes, struct hc_sv_input_words a,
                        struct hc_sv_input_words b) {
    return (((a.at[0] ^ b.at[0]) & changes->keys.at[0]) |
            ((a.at[1] ^ b.at[1]) & changes->keys.at[1])) != 0;
}

bool hc_sv_input_changes_keys_differ(const struct hc_sv_input_changes *changes, const uint8_t *a,
                                     const uint8_t *b) {
    size_t size = changes->world->game->input_size;
    return keys_differ(changes, words_of(a, size), words_of(b, size));
}

/// Renews the ticks at which the player's input changes, once for each head: inputs that were
/// known or forced at the head before are not compared again.
static void renew(const struct hc_sv_input_changes *changes, const struct hc_sv_input_span *span,
                  struct hc_sv_changed_ticks *ticks) {
    const struct hc_timeline *timeline = span->timeline;
    hc_tick head = hc_timeline_head(timeline);
    size_t size = changes->world->game->input_size;
    if (ticks->head == head)
        return;
    hc_tick from = hc_tick_max(hc_tick_max(ticks->settled, span->since), hc_tick_back(head, TICKS));
    const uint8_t *last = from < head ? hc_timeline_effective(timeline, span->player, from) : NULL;
    for (hc_tick t = from + 1; t < head; t++) {
        const uint8_t *now = hc_timeline_effective(timeline, span->player, t);
        uint64_t bit = UINT64_C(1) << t % TICKS;
        ticks->changed =
            memcmp(last, now, size) != 0 ? ticks->changed | bit : ticks->changed & ~bit;
        last = now;
    }
    ticks->settled =
        hc_tick_min(hc_timeline_inputs_through(timeline, span->player), hc_tick_back(head, 1));
    ticks->head = head;
}

/// The ticks in [from, end), at most TICKS, in which the player's input may differ from that
/// of the tick before, and the first: bit i for tick from + i.
static uint64_t ticks_in(const struct hc_sv_changed_ticks *known, hc_tick from, hc_tick end) {
    unsigned by = from % TICKS;
    uint64_t ticks = known->changed >> by | known->changed << (TICKS - by) % TICKS;
    if (from < hc_tick_back(known->head, TICKS - 1))
        ticks = UINT64_MAX; // they are not recorded
    uint32_t count = end - from;
    return (ticks | 1) & (count < TICKS ? (UINT64_C(1) << count) - 1 : UINT64_MAX);
}

void hc_sv_input_changes_all(struct hc_sv_input_changes *changes,
                             const struct hc_sv_input_span *span, struct hc_input_changes *out) {
    const struct hc_game *game = changes->world->game;
    struct hc_sv_changed_ticks *known = &changes->players[span->player];
    const uint8_t *given = span->given;
    renew(changes, span, known);
    out->count = 0;
    for (uint64_t ticks = ticks_in(known, span->from, span->end); ticks != 0; ticks &= ticks - 1) {
        hc_tick t = span->from + (hc_tick)__builtin_ctzll(ticks);
        struct hc_input_change *change = &out->at[out->count];
        memset(change->input, 0, sizeof change->input);
        memcpy(change->input, hc_timeline_effective(span->timeline, span->player, t),
               game->input_size);
        game->sanitize_input(change->input); // as the reader does; a prediction may need it
        if (memcmp(change->input, given, sizeof change->input) == 0)
            continue;
        change->tick = t;
        given = change->input;
        out->count++;
    }
}

void hc_sv_input_changes_of_keys(const struct hc_sv_input_changes *changes,
                                 const struct hc_input_changes *all, const uint8_t *given,
                                 bool alone, struct hc_input_changes *out) {
    struct hc_sv_input_words before = words_of(given, HC_INPUT_MAX), last = before;
    out->count = 0;
    for (unsigned i = 0; i < all->count; i++) {
        struct hc_sv_input_words now = words_of(all->at[i].input, HC_INPUT_MAX);
        if (!keys_differ(changes, now, last))
            continue;
        for (unsigned w = 0; w < HC_INPUT_MAX / 8 && alone; w++)
            now.at[w] ^= (now.at[w] ^ before.at[w]) & ~changes->keys.at[w];
        struct hc_input_change *listed = &out->at[out->count++];
        listed->tick = all->at[i].tick;
        memcpy(listed->input, now.at, sizeof listed->input);
        last = now;
    }
}

bool hc_sv_input_changes_same(const struct hc_sv_input_changes *changes,
                              const struct hc_input_changes *a, const struct hc_input_changes *b) {
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++)
        same = a->at[i].tick == b->at[i].tick &&
               memcmp(a->at[i].input, b->at[i].input, changes->world->game->input_size) == 0;
    return same;
}
