/// Owns the parts of a game that its histories have reached, and the notes on the others.
#include "check/reached.h"

#include "check/call.h"

enum { OVER_S = 2 }; ///< of processor time that `round_over` may take

void hc_ck_reached_history(struct hc_ck_reached *reached, uint32_t ticks) {
    if (reached->ticks_min == 0 || ticks < reached->ticks_min)
        reached->ticks_min = ticks;
    if (ticks > reached->ticks_max)
        reached->ticks_max = ticks;
}

/// The arguments and the result of a call of `round_over`.
struct question {
    const struct hc_world *world;
    const struct hc_plain *plain;
    bool over;
};

static void ask(void *context) {
    struct question *question = context;
    question->over =
        question->world->game->round_over(question->world, hc_plain_states(question->plain));
}

static bool is_over(const struct hc_world *world, const struct hc_plain *plain,
                    struct hc_ck_faults *faults) {
    struct question question = {.world = world, .plain = plain};
    struct hc_guard_end end;
    if (world->game->round_over == NULL || hc_plain_presence(plain)[HC_REFEREE] != HC_ALIVE)
        return false;
    if (!hc_ck_call_guarded(ask, &question, OVER_S, "round_over", &end))
        hc_ck_crash(faults, &end, "round_over");
    return end.signal == 0 && question.over;
}

void hc_ck_reached_tick(struct hc_ck_reached *reached, const struct hc_world *world,
                        const struct hc_plain *plain, struct hc_ck_faults *faults) {
    const hc_game_event *events = hc_plain_events(plain);
    const uint8_t *counts = hc_plain_event_counts(plain);
    for (uint32_t e = 0; e < world->entities; e++)
        for (unsigned i = 0; i < counts[e]; i++)
            reached->kinds |= UINT32_C(1) << hc_game_event_kind(events[e * HC_EMITTED_MAX + i]);
    reached->round_over = reached->round_over || is_over(world, plain, faults);
}

json_t *hc_ck_reached_notes(const struct hc_ck_reached *reached, const struct hc_game *game) {
    json_t *notes = json_array();
    for (unsigned k = 0; k < game->event_kind_count; k++)
        if ((reached->kinds >> k & 1) == 0)
            json_array_append_new(
                notes, json_sprintf("no history emits the event %s", game->event_kinds[k].name));
    if (game->round_over != NULL && !reached->round_over)
        json_array_append_new(notes,
                              json_string("no history ends a round: round_over is never true"));
    return notes;
}
