/// Owns the dots of games without a drawing.
#include "client/view/dots.h"

/// Shares of the width that is shown: a dot and the own player's from the centre; letters.
static const double DOT = 0.006, OWN_DOT = 0.009, NAME = 0.016;

/// A dot at the entity's position, in its kind's colour; the own player's is larger, and a player
/// has its name.
static void draw_dot(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    static const uint32_t colours[HC_KINDS_MAX] = {0xc9ada7ff, 0xf72585ff, 0xffe066ff, 0x80ed99ff,
                                                   0x9b5de5ff, 0xff9f1cff, 0xf15bb5ff, 0xffd6a5ff};
    const struct hc_kind *table = shown->table;
    const double across = frame->area.width;
    if (table->x == NULL)
        return;
    double x = shown->values[hc_kind_field(table, table->x)];
    double y = shown->values[hc_kind_field(table, table->y)];
    bool own = shown->owner == frame->own && frame->own != HC_NO_PLAYER;
    frame->canvas->disc(frame->canvas, x, y, (own ? OWN_DOT : DOT) * across,
                        own ? 0x4cc9f0ff : colours[shown->kind]);
    if (shown->entity == hc_world_player(frame->world, shown->owner) &&
        frame->names[shown->owner] != NULL)
        frame->canvas->text(frame->canvas, x, y - 1.5 * NAME * across, NAME * across,
                            frame->names[shown->owner], 0xf4f6faff);
}

const struct hc_drawing hc_cl_dots_drawing = {
    .abi = HC_DRAWING_ABI, .game = "", .backdrop = 0x14171dff, .entity = draw_dot};
