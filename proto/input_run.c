/// Input runs: packing, and reading without a copy.
#include "proto/input_run.h"

#include "hindcast/check.h"

#include <string.h>

/// Bits of all fields of an input.
static unsigned input_bits(const struct hc_game *game) {
    unsigned bits = 0;
    for (uint32_t i = 0; i < game->input_field_count; i++)
        bits += game->input_fields[i].bits;
    return bits;
}

static void put_fields(struct hc_bits_writer *bits, const struct hc_game *game, const void *input) {
    for (uint32_t i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        int64_t value = hc_field_get(field, input);
        HC_ASSERT(hc_field_fits(field, value));
        if (field->is_signed)
            hc_bits_put_signed(bits, (int32_t)value, field->bits);
        else
            hc_bits_put(bits, (uint32_t)value, field->bits);
    }
}

size_t hc_input_run_pack(const struct hc_game *game, uint32_t players, uint32_t *count,
                         hc_input_source *source, void *context, uint8_t *out, size_t capacity) {
    HC_ASSERT(players >= 1 && players <= HC_OWN_PLAYERS_MAX && *count <= HC_INPUT_RUN_MAX);
    uint8_t last[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX] = {0};
    struct hc_bits_writer bits = hc_bits_writer(out, capacity), before = bits;
    size_t most = (size_t)players * (1 + input_bits(game));
    uint32_t packed = 0;
    for (; packed < *count; packed++) {
        // A tick must fit as a whole, with the padding bits.
        bool may_fail = hc_bits_written(&bits) + most > capacity * 8;
        if (may_fail)
            before = bits;
        for (uint32_t player = 0; player < players; player++) {
            const void *input = source(context, packed, player);
            bool changed = memcmp(last[player], input, game->input_size) != 0;
            hc_bits_put(&bits, changed, 1);
            if (changed) {
                put_fields(&bits, game, input);
                memcpy(last[player], input, game->input_size);
            }
        }
        if (may_fail && hc_bits_failed(&bits)) {
            bits = before;
            break;
        }
    }
    size_t used = hc_bits_finish(&bits);
    HC_ASSERT(!hc_bits_failed(&bits));
    *count = packed;
    return used;
}

enum hc_status hc_input_run_begin(struct hc_input_run *run, const struct hc_game *game,
                                  uint32_t players, uint32_t count, const uint8_t *packed,
                                  size_t size) {
    HC_ASSERT(players <= HC_OWN_PLAYERS_MAX && count <= HC_INPUT_RUN_MAX);
    run->game = game;
    run->bits = hc_bits_reader(packed, size);
    run->players = players;
    run->left = players * count;
    run->player = 0;
    memset(run->last, 0, players * sizeof run->last[0]);
    struct hc_bits_reader bits = run->bits;
    unsigned changed = input_bits(game);
    for (uint32_t i = 0; i < run->left && !bits.failed; i++)
        if (hc_bits_get(&bits, 1) != 0)
            hc_bits_skip(&bits, changed);
    return hc_bits_done(&bits) ? HC_OK : HC_MALFORMED;
}

const void *hc_input_run_next(struct hc_input_run *run) {
    if (run->left == 0)
        return NULL;
    uint8_t *input = run->last[run->player];
    if (hc_bits_get(&run->bits, 1) != 0) {
        for (uint32_t i = 0; i < run->game->input_field_count; i++) {
            const struct hc_field *field = &run->game->input_fields[i];
            int64_t value = field->is_signed ? hc_bits_get_signed(&run->bits, field->bits)
                                             : (int64_t)hc_bits_get(&run->bits, field->bits);
            hc_field_set(field, input, value);
        }
    }
    run->player = run->player + 1 == run->players ? 0 : run->player + 1;
    run->left--;
    return input;
}
