/// hc_game_check: the rules for a game's tables, each with the sentence of its violation.
#include "hindcast/game.h"

#include "common/unit.h"
#include "hindcast/check.h"

#include <stdarg.h>
#include <stdio.h>

/// The caller's buffer for the sentence.
struct complaint {
    char *why;
    size_t size;
};

/// Writes the sentence and returns false, so that a check can end with `return complain(...)`.
__attribute__((format(printf, 2, 3))) static bool complain(const struct complaint *to,
                                                           const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to->why, to->size, format, arguments);
    va_end(arguments);
    return false;
}

static bool name_ok(const char *name) {
    if (name == NULL)
        return false;
    size_t length = 0;
    for (; name[length] != '\0' && length < 16; length++) {
        char c = name[length];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    return length >= 1 && length <= 15;
}

/// Checks one field, which must begin at `offset`; a `referee`'s may have a group and count down.
static bool check_field(const struct complaint *to, const char *owner, const struct hc_field *field,
                        unsigned offset, bool referee) {
    if (field->name == NULL || field->name[0] == '\0')
        return complain(to, "%s: the field at offset %u has no name", owner, field->offset);
    if (field->offset != offset)
        return complain(to, "%s.%s: offset %u, but byte %u comes next", owner, field->name,
                        field->offset, offset);
    if (field->size != 1 && field->size != 2 && field->size != 4)
        return complain(to, "%s.%s: size %u is none of 1, 2, 4", owner, field->name, field->size);
    if (offset % field->size != 0)
        return complain(to, "%s.%s: offset %u is not a multiple of size %u", owner, field->name,
                        offset, field->size);
    if (field->bits < 1 || field->bits > 8 * field->size)
        return complain(to, "%s.%s: bits %u outside of [1, %u]", owner, field->name, field->bits,
                        8u * field->size);
    if (field->interpolate > HC_ANGLE)
        return complain(to, "%s.%s: interpolation %u is none", owner, field->name,
                        field->interpolate);
    if (field->group >= HC_GROUPS_MAX)
        return complain(to, "%s.%s: group %u is not below %d", owner, field->name, field->group,
                        HC_GROUPS_MAX);
    if (!referee && field->group != 0)
        return complain(to, "%s.%s: groups belong to the referee", owner, field->name);
    if (field->countdown && field->is_signed)
        return complain(to, "%s.%s: a countdown must be unsigned", owner, field->name);
    return true;
}

/// Checks that no field of the input moves: an input is not extrapolated.
static bool check_input_stays(const struct complaint *to, const struct hc_game *game) {
    for (unsigned i = 0; i < game->input_field_count; i++)
        if (game->input_fields[i].countdown || game->input_fields[i].moves_by != NULL)
            return complain(to, "input.%s: a field of the input neither moves nor counts down",
                            game->input_fields[i].name);
    return true;
}

/// The index of the first field of that name, which one of them has.
static unsigned first_of_name(const struct hc_field *fields, const char *name) {
    unsigned i = 0;
    while (strcmp(fields[i].name, name) != 0)
        i++;
    return i;
}

/// Checks by which field `field`, one of the `count` at `fields`, moves.
static bool check_moves(const struct complaint *to, const char *owner,
                        const struct hc_field *fields, unsigned count,
                        const struct hc_field *field) {
    const struct hc_field *by = NULL;
    if (field->moves_by == NULL)
        return field->moves_per == 0 ||
               complain(to, "%s.%s: moves_per without moves_by", owner, field->name);
    for (unsigned i = 0; i < count && by == NULL; i++)
        if (strcmp(fields[i].name, field->moves_by) == 0)
            by = &fields[i];
    if (by == NULL || !by->is_signed || by->moves_by != NULL)
        return complain(to, "%s.%s: moves_by %s is no signed field that stays", owner, field->name,
                        field->moves_by);
    if (field->countdown)
        return complain(to, "%s.%s: a countdown moves by no field", owner, field->name);
    return true;
}

/// Checks `count` fields, which must cover `size` bytes.
static bool check_fields(const struct complaint *to, const char *owner,
                         const struct hc_field *fields, unsigned count, unsigned size,
                         bool referee) {
    if (count < 1 || count > HC_FIELDS_MAX || fields == NULL)
        return complain(to, "%s: %u fields, outside of [1, %d], or no table", owner, count,
                        HC_FIELDS_MAX);
    unsigned offset = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!check_field(to, owner, &fields[i], offset, referee))
            return false;
        offset += fields[i].size;
    }
    if (offset != size)
        return complain(to, "%s: the fields cover %u bytes of %u", owner, offset, size);
    for (unsigned i = 0; i < count; i++) {
        if (first_of_name(fields, fields[i].name) != i)
            return complain(to, "%s.%s: two fields have this name", owner, fields[i].name);
        if (!check_moves(to, owner, fields, count, &fields[i]))
            return false;
    }
    return true;
}

/// Checks the fields that tell the ticks that a player was shown: of the input, one of each at
/// most.
static bool check_shown_ago(const struct complaint *to, const struct hc_game *game) {
    unsigned count = 0, own_count = 0;
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        count += field->shown_ago;
        own_count += field->own_shown_ago;
        if (!field->shown_ago && !field->own_shown_ago)
            continue;
        if (count > 1 || own_count > 1 || (field->shown_ago && field->own_shown_ago))
            return complain(to, "input.%s: shown_ago has another field already", field->name);
        if (game->lookback == 0)
            return complain(to, "input.%s: shown_ago without a lookback", field->name);
        if (field->is_signed || game->lookback >> field->bits != 0)
            return complain(to, "input.%s: shown_ago must be unsigned and hold a lookback of %u",
                            field->name, (unsigned)game->lookback);
    }
    if (own_count > count)
        return complain(to, "input: own_shown_ago without shown_ago");
    for (unsigned k = 0; k < game->kind_count; k++)
        for (unsigned i = 0; i < game->kinds[k].field_count; i++)
            if (game->kinds[k].fields[i].shown_ago || game->kinds[k].fields[i].own_shown_ago)
                return complain(to, "%s.%s: shown_ago belongs to the input", game->kinds[k].name,
                                game->kinds[k].fields[i].name);
    return true;
}

/// Checks which fields say how they are sampled, and that buttons have no sign.
static bool check_sampling(const struct complaint *to, const struct hc_game *game) {
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        if (field->sampling > HC_LATCH)
            return complain(to, "input.%s: sampling %u is none", field->name, field->sampling);
        if (field->sampling != HC_SAMPLING_BY_BITS && (field->shown_ago || field->own_shown_ago))
            return complain(to, "input.%s: a shown tick is not sampled", field->name);
        if (field->sampling == HC_LATCH && field->is_signed && field->bits > 1)
            return complain(to, "input.%s: a latch must be unsigned or have one bit", field->name);
    }
    for (unsigned k = 0; k < game->kind_count; k++)
        for (unsigned i = 0; i < game->kinds[k].field_count; i++)
            if (game->kinds[k].fields[i].sampling != HC_SAMPLING_BY_BITS)
                return complain(to, "%s.%s: sampling belongs to the input", game->kinds[k].name,
                                game->kinds[k].fields[i].name);
    return true;
}

/// Checks which fields say that an entity has teleported: one of each kind at most.
static bool check_teleports(const struct complaint *to, const struct hc_game *game) {
    for (unsigned i = 0; i < game->input_field_count; i++)
        if (game->input_fields[i].teleports)
            return complain(to, "input.%s: an input does not teleport", game->input_fields[i].name);
    for (unsigned k = 0; k < game->kind_count; k++) {
        unsigned count = 0;
        for (unsigned i = 0; i < game->kinds[k].field_count; i++) {
            count += game->kinds[k].fields[i].teleports;
            if (count > 1)
                return complain(to, "%s.%s: another field teleports already", game->kinds[k].name,
                                game->kinds[k].fields[i].name);
        }
    }
    return true;
}

static bool check_kind(const struct complaint *to, const struct hc_kind *kind, bool referee) {
    if (kind->name == NULL || kind->name[0] == '\0')
        return complain(to, "a kind has no name");
    if (kind->state_size < 1 || kind->state_size > HC_STATE_MAX)
        return complain(to, "%s: state_size %u outside of [1, %d]", kind->name, kind->state_size,
                        HC_STATE_MAX);
    if (!check_fields(to, kind->name, kind->fields, kind->field_count, kind->state_size, referee))
        return false;
    if (kind->x == NULL && kind->y == NULL)
        return true;
    if (referee)
        return complain(to, "%s: the referee has no position", kind->name);
    int x = hc_kind_field(kind, kind->x), y = hc_kind_field(kind, kind->y);
    return (x >= 0 && y >= 0 && x != y) ||
           complain(to, "%s: x '%s' and y '%s' are not two of its fields, nor both NULL",
                    kind->name, kind->x != NULL ? kind->x : "", kind->y != NULL ? kind->y : "");
}

static bool check_kinds(const struct complaint *to, const struct hc_game *game) {
    if (game->kind_count < 2 || game->kind_count > HC_KINDS_MAX || game->kinds == NULL)
        return complain(to, "kind_count %u outside of [2, %d], or no table", game->kind_count,
                        HC_KINDS_MAX);
    for (unsigned i = 0; i < game->kind_count; i++)
        if (!check_kind(to, &game->kinds[i], i == 0))
            return false;
    return true;
}

/// The bits of a kind's fields, and what their encoding adds.
static unsigned field_bits(const struct hc_kind *kind) {
    unsigned bits = 0;
    for (unsigned i = 0; i < kind->field_count; i++)
        bits += kind->fields[i].bits + 3u;
    return bits;
}

static bool check_slots(const struct complaint *to, const struct hc_game *game) {
    if (game->owned_count < 1 || game->owned == NULL || game->owned[0].count != 1)
        return complain(to, "owned[0] must be the player, with count 1");
    unsigned per_owner = 0, bits = 0;
    for (unsigned i = 0; i < game->owned_count; i++) {
        per_owner += game->owned[i].count;
        if (game->owned[i].kind < 1 || game->owned[i].kind >= game->kind_count)
            return complain(to, "owned[%u]: kind %u outside of [1, %u)", i, game->owned[i].kind,
                            game->kind_count);
        if (game->owned[i].every != 0)
            return complain(to, "owned[%u]: every is for unowned slots", i);
        bits += game->owned[i].count * field_bits(&game->kinds[game->owned[i].kind]);
    }
    if (per_owner > HC_UNIT_ENTITIES_MAX)
        return complain(to, "owned: %u slots for each player are above %d", per_owner,
                        HC_UNIT_ENTITIES_MAX);
    if (bits > HC_UNIT_BITS_MAX)
        return complain(to,
                        "owned: the fields of a player's slots take %u bits, above %d: a datagram "
                        "cannot hold them",
                        bits, HC_UNIT_BITS_MAX);
    if (game->unowned_count > 0 && game->unowned == NULL)
        return complain(to, "unowned: no table");
    for (unsigned i = 0; i < game->unowned_count; i++)
        if (game->unowned[i].kind < 1 || game->unowned[i].kind >= game->kind_count)
            return complain(to, "unowned[%u]: kind %u outside of [1, %u)", i, game->unowned[i].kind,
                            game->kind_count);
    return true;
}

/// `game` has passed check_kinds and check_slots.
static bool check_view(const struct complaint *to, const struct hc_game *game) {
    if (game->view == 0)
        return true;
    // 1.25 views must fit a uint32_t, and a client must receive every entity that its players read.
    if (game->view < game->reach || game->view > UINT32_C(1) << 30)
        return complain(to, "view %u is neither 0 nor in [reach, 2^30]", (unsigned)game->view);
    if (game->kinds[game->owned[0].kind].x == NULL)
        return complain(to, "view %u: the player has no position to look from",
                        (unsigned)game->view);
    return true;
}

/// `game` has passed check_kinds.
static bool check_events(const struct complaint *to, const struct hc_game *game) {
    if (game->event_kind_count > HC_EVENT_KINDS_MAX)
        return complain(to, "event_kind_count %u is above %d", game->event_kind_count,
                        HC_EVENT_KINDS_MAX);
    if (game->event_kind_count > 0 && game->event_kinds == NULL)
        return complain(to, "event_kinds: no table");
    for (unsigned i = 0; i < game->event_kind_count; i++) {
        const struct hc_game_event_kind *kind = &game->event_kinds[i];
        if (kind->name == NULL || kind->name[0] == '\0')
            return complain(to, "event_kinds[%u] has no name", i);
        if (kind->bits > HC_EVENT_BITS_MAX)
            return complain(to, "event %s: bits %u above %d", kind->name, kind->bits,
                            HC_EVENT_BITS_MAX);
    }
    for (unsigned i = 0; i < game->kind_count; i++) {
        if (game->kinds[i].events_max > HC_EMITTED_MAX)
            return complain(to, "%s: events_max %u is above %d", game->kinds[i].name,
                            game->kinds[i].events_max, HC_EMITTED_MAX);
        if (game->kinds[i].events_max > 0 && game->event_kind_count == 0)
            return complain(to, "%s: events_max %u, but the game has no event_kinds",
                            game->kinds[i].name, game->kinds[i].events_max);
    }
    return true;
}

/// `game` has passed check_kinds and check_slots.
static bool check_reductions(const struct complaint *to, const struct hc_game *game) {
    if (game->reduction_count > HC_REDUCTIONS_MAX)
        return complain(to, "reduction_count %u is above %d", game->reduction_count,
                        HC_REDUCTIONS_MAX);
    if (game->reduction_count > 0 && game->reductions == NULL)
        return complain(to, "reductions: no table");
    const struct hc_kind *player = &game->kinds[game->owned[0].kind];
    for (unsigned i = 0; i < game->reduction_count; i++) {
        const struct hc_reduction *reduction = &game->reductions[i];
        if ((unsigned)reduction->op > HC_REDUCE_MAX)
            return complain(to, "reductions[%u]: op %u is none", i, (unsigned)reduction->op);
        if (reduction->op == HC_REDUCE_COUNT && reduction->field != NULL)
            return complain(to, "reductions[%u]: a count is of players, not of a field %s", i,
                            reduction->field);
        if (reduction->op != HC_REDUCE_COUNT && hc_kind_field(player, reduction->field) < 0)
            return complain(to, "reductions[%u]: the player's kind %s has no field '%s'", i,
                            player->name, reduction->field != NULL ? reduction->field : "");
    }
    return true;
}

static bool check_game(const struct complaint *to, const struct hc_game *game) {
    if (!name_ok(game->name))
        return complain(to, "name: 1 to 15 letters, digits or '-' are needed");
    if (game->players_max < 1 || game->players_max > HC_PLAYERS_MAX)
        return complain(to, "players_max %u outside of [1, %d]", game->players_max, HC_PLAYERS_MAX);
    // Twice the reach must fit a uint32_t.
    if (game->reach > UINT32_C(1) << 30)
        return complain(to, "reach %u is above 2^30", (unsigned)game->reach);
    if (game->lookback > HC_LOOKBACK_MAX)
        return complain(to, "lookback %u is above %d", (unsigned)game->lookback, HC_LOOKBACK_MAX);
    if (game->start == NULL || game->step == NULL || game->predict_input == NULL ||
        game->sanitize_input == NULL)
        return complain(to, "start, step, predict_input and sanitize_input are all needed");
    if (game->input_size < 1 || game->input_size > HC_INPUT_MAX)
        return complain(to, "input_size %u outside of [1, %d]", game->input_size, HC_INPUT_MAX);
    if ((game->level == NULL) != (game->level_size == 0))
        return complain(to, "level: data without a size, or a size without data");
    return check_fields(to, "input", game->input_fields, game->input_field_count, game->input_size,
                        false) &&
           check_input_stays(to, game) && check_kinds(to, game) && check_shown_ago(to, game) &&
           check_sampling(to, game) && check_teleports(to, game) && check_slots(to, game) &&
           check_view(to, game) && check_reductions(to, game) && check_events(to, game);
}

const char *hc_game_check(const struct hc_game *game, char *why, size_t why_size) {
    HC_ASSERT(game != NULL);
    HC_ASSERT(why != NULL && why_size > 0);
    why[0] = '\0';
    return check_game(&(struct complaint){.why = why, .size = why_size}, game) ? NULL : why;
}
