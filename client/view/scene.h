/// A client's world as it is drawn: the part that is shown, the order of the entities, their game
/// events and their ghosts. It draws by a game's drawing on any canvas; a window and a page share
/// it.
///
/// Calls for each frame, once the client has received a state:
///   1. hc_cl_scene_note for each game event that the client has delivered;
///   2. hc_cl_scene_area, which the caller fits to its canvas;
///   3. hc_cl_scene_begin, and hc_cl_scene_background;
///   4. hc_cl_scene_ghosts, if they are wanted; hc_cl_scene_entities.
#pragma once

#include "client/view/shown_events.h"

/// A scene. All zeros, apart from the client and the drawing, before the first frame.
struct hc_cl_scene {
    const struct hc_client *client;   ///< borrowed
    const struct hc_drawing *drawing; ///< borrowed
    struct hc_cl_shown_events events;
    bool has_bounds;       ///< an entity was seen
    struct hc_area bounds; ///< all places of entities so far, for drawings without an area
    const char *names[HC_PLAYERS_MAX];
    struct hc_frame frame; ///< the frame that is drawn
    uint64_t now_us;       ///< its time
};

/// Takes a game event of the client, which was delivered at `now_us`.
void hc_cl_scene_note(struct hc_cl_scene *scene, const struct hc_client_game_event *event,
                      uint64_t now_us);

/// The part of the world that is to be shown at `now_us`.
struct hc_area hc_cl_scene_area(struct hc_cl_scene *scene, uint64_t now_us);

/// Begins a frame on `canvas`, borrowed for the frame, which shows `area`.
void hc_cl_scene_begin(struct hc_cl_scene *scene, const struct hc_canvas *canvas,
                       const struct hc_area *area, uint64_t now_us);

/// Draws what is behind all entities.
void hc_cl_scene_background(const struct hc_cl_scene *scene);

/// Draws the entities as they are in the newest received state, where they are drawn elsewhere by
/// `least` units of the game or more. The canvas shows them as ghosts meanwhile.
void hc_cl_scene_ghosts(const struct hc_cl_scene *scene, double least);

/// Draws all visible entities: those without an owner, the referee, and those of players.
void hc_cl_scene_entities(const struct hc_cl_scene *scene);

/// Writes the place of the own player; false: it is not visible, or has no place.
bool hc_cl_scene_self(const struct hc_cl_scene *scene, double *x, double *y);
