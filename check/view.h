/// The world before a step, as a copy that a step may spoil.
#pragma once

#include "hindcast/scene.h"

/// The past that a view shows.
enum hc_ck_past {
    HC_CK_PAST,         ///< as it is
    HC_CK_PAST_CHANGED, ///< with changes of all that the step may not read
    HC_CK_PAST_CLIENT,  ///< as a client may know it
};

struct hc_ck_view {
    uint8_t *states, *presence, *inputs, *rosters;
    int64_t reductions[HC_REDUCTIONS_MAX];
    enum hc_ck_past past;
};

/// Allocates a view of `world`; hc_ck_view_free frees it, also if this fails. False: no memory.
bool hc_ck_view_create(const struct hc_world *world, struct hc_ck_view *view);

/// Frees the memory of a view, which may be all zeros.
void hc_ck_view_free(struct hc_ck_view *view);

/// Copies what the scene shows into the view.
void hc_ck_view_copy(const struct hc_scene *scene, struct hc_ck_view *view);

/// The scene that shows the view, and is else as `scene`.
struct hc_scene hc_ck_view_show(const struct hc_scene *scene, const struct hc_ck_view *view);
