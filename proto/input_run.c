#include "proto/input_run.h"

#include "common/check.h"

#include <string.h>

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

uint32_t hc_input_run_pack(const struct hc_game *game, uint32_t players, uint32_t count,
                           hc_input_source *source, void *context, uint8_t *out, size_t capacity,
                           size_t *used) {
    HC_ASSERT(players >= 1 && players <= HC_OWN_PLAYERS_MAX && count <= HC_INPUT_RUN_MAX);
    uint8_t last[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX] = {0};
    struct hc_bits_writer bits = hc_bits_writer(out, capacity);
    uint32_t packed = 0;
    for (; packed < count; packed++) {
        // A tick goes in whole or not at all, closing bits included.
        struct hc_bits_writer attempt = bits;
        for (uint32_t player = 0; player < players; player++) {
            const void *input = source(context, packed, player);
            bool changed = memcmp(last[player], input, game->input_size) != 0;
            hc_bits_put(&attempt, changed, 1);
            if (changed) {
                put_fields(&attempt, game, input);
                memcpy(last[player], input, game->input_size);
            }
        }
        if (attempt.failed || (hc_bits_written(&attempt) + 7) / 8 > capacity)
            break;
        bits = attempt;
    }
    *used = hc_bits_finish(&bits);
    HC_ASSERT(!bits.failed);
    return packed;
}

enum hc_status hc_input_run_begin(struct hc_input_run *run, const struct hc_game *game,
                                  uint32_t players, uint32_t count, const uint8_t *packed,
                                  size_t size) {
    HC_ASSERT(players <= HC_OWN_PLAYERS_MAX && count <= HC_INPUT_RUN_MAX);
    const struct hc_input_run start = {.game = game,
                                       .bits = hc_bits_reader(packed, size),
                                       .players = players,
                                       .left = players * count};
    *run = start;
    while (hc_input_run_next(run) != NULL && !run->bits.failed)
        continue;
    if (!hc_bits_done(&run->bits))
        return HC_MALFORMED;
    *run = start;
    return HC_OK;
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
