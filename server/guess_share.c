#include "server/guess_share.h"

#include <string.h>

enum { MOVE = 64 }; ///< a snapshot moves the median by one part in so many

void hc_sv_guess_tick(struct hc_sv_guess_share *share) {
    memcpy(share->before, share->like, sizeof share->like);
    memset(share->like, 0, sizeof share->like);
}

static uint64_t each(const struct hc_sv_guess_share *share) {
    uint64_t parts = 2 * share->median, least = HC_SV_GUESS_MIN * HC_SV_GUESS_PARTS;
    return parts > least ? parts : least;
}

/// Moves the median towards what a snapshot has asked for: the few that ask for much move it
/// little.
static void note(struct hc_sv_guess_share *share, uint64_t asked) {
    uint64_t by = share->median / MOVE + 1;
    if (asked > share->median)
        share->median += by;
    else
        share->median -= by < share->median ? by : share->median;
}

static uint64_t parts_of(const struct hc_sv_guess *guess, uint32_t steps) {
    return (uint64_t)steps * HC_SV_GUESS_PARTS / guess->sharers;
}

struct hc_sv_guess hc_sv_guess_begin(struct hc_sv_guess_share *share, uint32_t saved,
                                     uint32_t base_age, uint32_t tick_age, uint32_t own_steps) {
    uint32_t kind = (base_age * 31 + tick_age) % HC_SV_GUESS_KINDS;
    struct hc_sv_guess guess = {.sharers = share->before[kind] > 0 ? share->before[kind] : 1};
    uint64_t own = parts_of(&guess, own_steps);
    guess.most = each(share) + saved;
    guess.most -= own < guess.most ? own : guess.most;
    share->like[kind]++;
    return guess;
}

bool hc_sv_guess_fits(const struct hc_sv_guess *guess, uint32_t steps) {
    return guess->taken + parts_of(guess, steps) <= guess->most;
}

void hc_sv_guess_take(struct hc_sv_guess *guess, uint32_t steps) {
    guess->taken += parts_of(guess, steps);
}

uint32_t hc_sv_guess_end(struct hc_sv_guess_share *share, const struct hc_sv_guess *guess,
                         uint32_t asked_steps, uint32_t own_steps, uint32_t saved_most) {
    uint64_t all = guess->most + parts_of(guess, own_steps);
    uint64_t left = all > guess->taken ? all - guess->taken : 0;
    note(share, parts_of(guess, asked_steps));
    return left < saved_most ? (uint32_t)left : saved_most;
}
