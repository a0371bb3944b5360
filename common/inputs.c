/// The rules of input slots: known, forced, retracted and predicted inputs, joins and leaves.
#include "common/inputs.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "hindcast/check.h"

#include <string.h>

static uint32_t rows(const struct hc_inputs *in) {
    return in->history + in->future + 1;
}

static size_t input_size(const struct hc_inputs *in) {
    return in->world->game->input_size;
}

/// Copies an input. Constant sizes need no call, and most inputs have one of these.
static void copy_input(uint8_t *to, const uint8_t *from, size_t size) {
    if (size == 4)
        memcpy(to, from, 4);
    else if (size == 2)
        memcpy(to, from, 2);
    else if (size == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, size);
}

/// Whether two inputs are equal; as copy_input.
static bool same_input(const uint8_t *a, const uint8_t *b, size_t size) {
    if (size == 4)
        return memcmp(a, b, 4) == 0;
    if (size == 2)
        return memcmp(a, b, 2) == 0;
    if (size == 8)
        return memcmp(a, b, 8) == 0;
    return memcmp(a, b, size) == 0;
}

size_t hc_inputs_layout(struct hc_inputs *in, uint8_t *base) {
    size_t players = in->world->players, cells = players * rows(in), used = 0;
    in->cells = cells;
    in->slot = hc_carve(base, &used, cells);
    in->roster_change = hc_carve(base, &used, cells);
    in->base = hc_carve(base, &used, cells * sizeof *in->base);
    in->known = hc_carve(base, &used, cells * input_size(in));
    in->effective = hc_carve(base, &used, cells * input_size(in));
    in->given = hc_carve(base, &used, cells * input_size(in));
    in->past_base = hc_carve(base, &used, players * sizeof *in->past_base);
    in->past_input = hc_carve(base, &used, players * input_size(in));
    in->past_roster = hc_carve(base, &used, players * sizeof *in->past_roster);
    in->join_tick = hc_carve(base, &used, players * sizeof *in->join_tick);
    in->inputs_through = hc_carve(base, &used, players * sizeof *in->inputs_through);
    in->joined = hc_carve(base, &used, players * sizeof *in->joined);
    in->changed_at = hc_carve(base, &used, players * sizeof *in->changed_at);
    in->active = hc_carve(base, &used, (players + 63) / 64 * sizeof *in->active);
    for (size_t p = 0; base != NULL && p < players; p++)
        in->past_base[p] = in->past_roster[p] = HC_NO_TICK;
    return used;
}

size_t hc_inputs_cell(const struct hc_inputs *in, hc_player player, hc_tick tick) {
    HC_CHECK(player < in->world->players && tick >= in->first && tick <= in->last);
    return (size_t)(tick % rows(in)) * in->world->players + player;
}

/// The cell of the same player, one tick after that of `cell`.
static size_t cell_after(const struct hc_inputs *in, size_t cell) {
    cell += in->world->players;
    return cell < in->cells ? cell : cell - in->cells;
}

/// The cell of the same player, `ago` ticks before that of `cell`.
static size_t cell_before(const struct hc_inputs *in, size_t cell, uint32_t ago) {
    size_t back = (size_t)ago * in->world->players;
    return cell >= back ? cell - back : cell + in->cells - back;
}

// ---- Active players -----------------------------------------------------------------------------

static bool is_active(const struct hc_inputs *in, hc_player player) {
    return (in->active[player / 64] >> player % 64 & 1) != 0;
}

/// Notes that an input or a roster change of `tick` is about to be put.
static void activate(struct hc_inputs *in, hc_player player, hc_tick tick) {
    size_t size = input_size(in);
    in->changed_at[player] = hc_tick_max(in->changed_at[player], tick);
    if (is_active(in, player))
        return;
    in->changed_at[player] = tick;
    in->active[player / 64] |= UINT64_C(1) << player % 64;
    for (size_t cell = player; cell < in->cells; cell += in->world->players) {
        in->base[cell] = HC_NO_TICK;
        memset(in->given + cell * size, 0, size); // as the effective input of a player without any
    }
}

/// Deactivates a player that has left, once all of its slots are unknown and without a base.
static void deactivate_gone(struct hc_inputs *in, hc_player player) {
    size_t size = input_size(in);
    if (in->joined[player] || in->past_base[player] != HC_NO_TICK ||
        in->changed_at[player] >= in->first)
        return;
    in->active[player / 64] &= ~(UINT64_C(1) << player % 64);
    for (size_t cell = player; cell < in->cells; cell += in->world->players)
        memset(in->effective + cell * size, 0, size);
}

/// The first active player from `from` on; the players: there is none.
static hc_player next_active(const struct hc_inputs *in, uint32_t from) {
    while (from < in->world->players) {
        uint64_t left = in->active[from / 64] >> from % 64;
        if (left != 0)
            return (hc_player)(from + (uint32_t)__builtin_ctzll(left));
        from = (from / 64 + 1) * 64;
    }
    return in->world->players;
}

// ---- Slots --------------------------------------------------------------------------------------

static bool has_base(const struct hc_inputs *in, size_t cell) {
    return in->slot[cell] == HC_SLOT_KNOWN && in->roster_change[cell] != HC_ROSTER_JOIN;
}

/// The base of a prediction in the slot after `cell`, which is of `tick`; `before` is the base in
/// the slot itself.
static hc_tick base_after(const struct hc_inputs *in, size_t cell, hc_tick tick, hc_tick before) {
    if (in->roster_change[cell] != HC_ROSTER_NONE)
        return HC_NO_TICK;
    return has_base(in, cell) ? tick : before;
}

/// The base of a prediction in the slot of `tick`. Slots before `head` store it; later ones
/// (inputs received early) are searched.
static hc_tick base_before(const struct hc_inputs *in, hc_player player, hc_tick tick) {
    if (tick <= in->first)
        return in->past_base[player];
    size_t cell = hc_inputs_cell(in, player, tick - 1);
    for (hc_tick t = tick; t-- > in->first; cell = cell_before(in, cell, 1)) {
        if (t < in->head)
            return base_after(in, cell, t, in->base[cell]);
        if (in->roster_change[cell] != HC_ROSTER_NONE)
            return HC_NO_TICK;
        if (has_base(in, cell))
            return t;
    }
    return in->past_base[player];
}

/// The input of `base`, the prediction base of the slot of `cell`, which is of `tick`.
static const uint8_t *base_input(const struct hc_inputs *in, hc_player player, hc_tick tick,
                                 size_t cell, hc_tick base) {
    if (base < in->first)
        return in->past_input + player * input_size(in);
    return in->known + cell_before(in, cell, tick - base) * input_size(in);
}

/// Writes the effective input of the slot of `cell`, whose prediction base is `base`, to `out`.
static inline void evaluate(const struct hc_inputs *in, hc_player player, hc_tick tick, size_t cell,
                            hc_tick base, uint8_t *out) {
    size_t size = input_size(in);
    if (in->roster_change[cell] == HC_ROSTER_JOIN)
        memset(out, 0, size);
    else if (in->slot[cell] == HC_SLOT_KNOWN)
        copy_input(out, in->known + cell * size, size);
    else if (in->slot[cell] == HC_SLOT_FORCED)
        memcpy(out, in->effective + cell * size, size);
    else if (base == HC_NO_TICK)
        memset(out, 0, size);
    else
        in->world->game->predict_input(base_input(in, player, tick, cell, base), tick - base, out);
}

/// Recomputes the slot of `cell`; true when its effective input changed.
static inline bool renew(struct hc_inputs *in, hc_player player, hc_tick tick, size_t cell,
                         hc_tick base) {
    uint8_t fresh[HC_INPUT_MAX];
    size_t size = input_size(in);
    evaluate(in, player, tick, cell, base, fresh);
    in->base[cell] = base;
    if (same_input(in->effective + cell * size, fresh, size))
        return false;
    copy_input(in->effective + cell * size, fresh, size);
    return true;
}

/// Recomputes the slot of `from` after a change, and the predictions after it, up to the next known
/// input or roster change.
static void refresh(struct hc_inputs *in, hc_player player, hc_tick from) {
    if (from >= in->head)
        return;
    hc_tick base = base_before(in, player, from);
    size_t cell = hc_inputs_cell(in, player, from);
    for (hc_tick t = from; t < in->head; t++, cell = cell_after(in, cell)) {
        if (renew(in, player, t, cell, base))
            in->changed(in->context, player, t);
        if (t > from && (has_base(in, cell) || in->roster_change[cell] != HC_ROSTER_NONE))
            return;
        base = base_after(in, cell, t, base);
    }
}

static void renew_inputs_through(struct hc_inputs *in, hc_player player) {
    hc_tick next = hc_tick_max(in->inputs_through[player] + 1, in->first);
    in->inputs_through[player] = next - 1;
    if (next > in->last)
        return;
    size_t cell = hc_inputs_cell(in, player, next);
    for (; next <= in->last; cell = cell_after(in, cell)) {
        uint8_t slot = in->slot[cell];
        if (slot != HC_SLOT_KNOWN && slot != HC_SLOT_FORCED)
            return;
        in->inputs_through[player] = next++;
    }
}

/// Lets the slot of `cell`, which is of `tick`, leave the window.
static void retire(struct hc_inputs *in, hc_player player, hc_tick tick, size_t cell) {
    size_t size = input_size(in);
    hc_tick base = base_after(in, cell, tick, in->past_base[player]);
    if (base == tick)
        copy_input(in->past_input + player * size, in->known + cell * size, size);
    in->past_base[player] = base;
    if (in->roster_change[cell] != HC_ROSTER_NONE)
        in->past_roster[player] = tick;
}

/// Whether `maybe` is a tick at or after `tick`.
static bool at_or_after(hc_tick maybe, hc_tick tick) {
    return maybe != HC_NO_TICK && maybe >= tick;
}

static void clear_row(struct hc_inputs *in, hc_tick tick) {
    size_t players = in->world->players, row = (size_t)(tick % rows(in)) * players;
    memset(in->slot + row, HC_SLOT_UNKNOWN, players);
    memset(in->roster_change + row, HC_ROSTER_NONE, players);
}

void hc_inputs_move(struct hc_inputs *in, hc_tick head) {
    HC_ASSERT(!in->started || head >= in->head);
    hc_tick first = hc_tick_back(head, in->history), last = hc_tick_ahead(head, in->future);
    hc_player players = in->world->players;
    for (hc_tick t = in->first; in->started && t < first && t <= in->last; t++) {
        size_t row = hc_inputs_cell(in, 0, t);
        for (hc_player p = next_active(in, 0); p < players; p = next_active(in, p + 1u))
            retire(in, p, t, row + p);
    }
    for (hc_tick t = in->started && in->last >= first ? in->last + 1 : first; t <= last; t++)
        clear_row(in, t);
    in->started = true;
    in->first = first;
    in->last = last;
    in->head = head;
    for (hc_player p = next_active(in, 0); p < players; p = next_active(in, p + 1u)) {
        if (in->joined[p] && in->inputs_through[p] + 1 < first) // else the next slot is unknown
            renew_inputs_through(in, p);
        deactivate_gone(in, p);
    }
}

void hc_inputs_restart(struct hc_inputs *in, hc_tick head) {
    hc_tick old_head = in->head;
    hc_inputs_move(in, head);
    // No step was given the skipped slots, but later slots read their base.
    for (hc_tick t = hc_tick_max(old_head, in->first); t < head; t++)
        for (hc_player p = next_active(in, 0); p < in->world->players; p = next_active(in, p + 1u))
            renew(in, p, t, hc_inputs_cell(in, p, t), base_before(in, p, t));
}

bool hc_inputs_give(struct hc_inputs *in, size_t cell) {
    size_t size = input_size(in), at = cell * size;
    if (same_input(in->given + at, in->effective + at, size))
        return false;
    copy_input(in->given + at, in->effective + at, size);
    return true;
}

void hc_inputs_prepare(struct hc_inputs *in) {
    size_t row = hc_inputs_cell(in, 0, in->head), size = input_size(in);
    size_t before = cell_before(in, row, 1);
    for (hc_player p = next_active(in, 0); p < in->world->players; p = next_active(in, p + 1u)) {
        hc_tick base = in->past_base[p];
        if (in->head > in->first)
            base = base_after(in, before + p, in->head - 1, in->base[before + p]);
        renew(in, p, in->head, row + p, base);
        copy_input(in->given + (row + p) * size, in->effective + (row + p) * size, size);
    }
}

/// HC_OK when `tick` is in the window.
static enum hc_status window_status(const struct hc_inputs *in, hc_tick tick) {
    if (!in->started)
        return HC_UNEXPECTED;
    if (tick > in->last)
        return HC_TOO_NEW;
    return tick < in->first ? HC_TOO_OLD : HC_OK;
}

/// Stores an input from before the window as prediction base, unless a newer one is known.
static void renew_past_base(struct hc_inputs *in, hc_player player, hc_tick tick,
                            const void *input) {
    if (at_or_after(in->past_base[player], tick) || at_or_after(in->past_roster[player], tick))
        return;
    HC_MARK("base-renewed-outside-ring");
    activate(in, player, tick);
    in->past_base[player] = tick;
    memcpy(in->past_input + player * input_size(in), input, input_size(in));
    refresh(in, player, in->first);
}

enum hc_status hc_inputs_put(struct hc_inputs *in, hc_player player, hc_tick tick,
                             const void *input) {
    HC_ASSERT(player < in->world->players);
    enum hc_status status = window_status(in, tick);
    if (status == HC_UNEXPECTED || (!in->replica && !in->joined[player]))
        return HC_UNEXPECTED;
    if (!in->replica && tick <= in->join_tick[player])
        return HC_DUPLICATE;
    if (status == HC_TOO_OLD && in->replica)
        renew_past_base(in, player, tick, input);
    if (status != HC_OK)
        return status;
    size_t cell = hc_inputs_cell(in, player, tick);
    if (in->slot[cell] != HC_SLOT_UNKNOWN)
        return HC_DUPLICATE;
    activate(in, player, tick);
    in->slot[cell] = HC_SLOT_KNOWN;
    copy_input(in->known + cell * input_size(in), input, input_size(in));
    refresh(in, player, tick);
    if (!in->replica)
        renew_inputs_through(in, player);
    return HC_OK;
}

uint32_t hc_inputs_force(struct hc_inputs *in, hc_player player, hc_tick before) {
    HC_ASSERT(player < in->world->players && !in->replica && in->started);
    uint32_t forced = 0;
    if (!in->joined[player])
        return 0;
    for (hc_tick t = hc_tick_max(in->first, in->inputs_through[player] + 1);
         t < before && t <= in->last; t++) {
        size_t cell = hc_inputs_cell(in, player, t);
        if (in->slot[cell] != HC_SLOT_UNKNOWN)
            continue;
        if (t >= in->head)
            evaluate(in, player, t, cell, base_before(in, player, t),
                     in->effective + cell * input_size(in));
        HC_MARK("input-forced");
        in->changed_at[player] = hc_tick_max(in->changed_at[player], t); // it is active
        in->slot[cell] = HC_SLOT_FORCED;
        forced++;
    }
    renew_inputs_through(in, player);
    return forced;
}

/// Clears the inputs after `tick` up to the next roster change: they are of another stay.
static void clear_after(struct hc_inputs *in, hc_player player, hc_tick tick) {
    for (hc_tick t = hc_tick_max(tick + 1, in->first); t <= in->last; t++) {
        size_t cell = hc_inputs_cell(in, player, t);
        in->slot[cell] = HC_SLOT_UNKNOWN;
        if (in->roster_change[cell] != HC_ROSTER_NONE)
            return;
    }
}

/// The authority's part of a roster change.
static void apply_roster(struct hc_inputs *in, hc_player player, hc_tick tick, bool join) {
    if (join)
        in->join_tick[player] = in->inputs_through[player] = tick;
    else if (hc_inputs_force(in, player, tick + 1) > 0)
        HC_MARK("leave-with-unknown-slots");
    in->joined[player] = join;
}

/// Applies a roster change from before the window, if it is the newest of these: the known inputs
/// after it are of another stay, because they were received before it.
static void put_past_roster(struct hc_inputs *in, hc_player player, hc_tick tick) {
    if (at_or_after(in->past_roster[player], tick))
        return;
    activate(in, player, tick);
    in->past_roster[player] = tick;
    in->past_base[player] = HC_NO_TICK;
    clear_after(in, player, tick);
    refresh(in, player, in->first);
}

enum hc_status hc_inputs_put_roster(struct hc_inputs *in, hc_player player, hc_tick tick,
                                    enum hc_roster roster_change) {
    HC_ASSERT(player < in->world->players && roster_change != HC_ROSTER_NONE);
    enum hc_status status = window_status(in, tick);
    bool join = roster_change == HC_ROSTER_JOIN;
    if (status == HC_UNEXPECTED ||
        (!in->replica && (tick != in->head || in->joined[player] == join)))
        return HC_UNEXPECTED;
    if (status == HC_TOO_OLD) // a replica: the authority's are at its head
        put_past_roster(in, player, tick);
    if (status != HC_OK)
        return status;
    size_t cell = hc_inputs_cell(in, player, tick);
    if (in->roster_change[cell] != HC_ROSTER_NONE)
        return HC_DUPLICATE;
    activate(in, player, tick);
    if (!in->replica)
        apply_roster(in, player, tick, join);
    clear_after(in, player, tick); // on the authority a join finds none
    in->roster_change[cell] = (uint8_t)roster_change;
    refresh(in, player, tick);
    return HC_OK;
}

enum hc_status hc_inputs_retract(struct hc_inputs *in, hc_player player, hc_tick tick) {
    HC_ASSERT(player < in->world->players && in->replica);
    enum hc_status status = window_status(in, tick);
    if (status == HC_TOO_OLD && in->past_base[player] == tick) {
        in->past_base[player] = HC_NO_TICK;
        refresh(in, player, in->first);
    }
    if (status != HC_OK)
        return status;
    size_t cell = hc_inputs_cell(in, player, tick);
    if (in->slot[cell] == HC_SLOT_RETRACTED)
        return HC_DUPLICATE;
    if (in->slot[cell] == HC_SLOT_KNOWN)
        HC_MARK("known-input-retracted");
    activate(in, player, tick);
    in->slot[cell] = HC_SLOT_RETRACTED;
    refresh(in, player, tick);
    return HC_OK;
}

bool hc_inputs_newest(const struct hc_inputs *in, hc_player player, hc_tick tick, hc_tick *known,
                      void *input) {
    if (!in->started || !is_active(in, player))
        return false;
    hc_tick base = base_before(in, player, hc_tick_min(tick, in->last + 1));
    if (base == HC_NO_TICK || base >= tick)
        return false;
    *known = base;
    size_t cell = base < in->first ? 0 : hc_inputs_cell(in, player, base);
    memcpy(input, base_input(in, player, base, cell, base), input_size(in));
    return true;
}
