/// The texts of the inspector's events, JSON each.
#pragma once

#include "server/daemon/json_text.h"
#include "server/daemon/match.h"

/// Adds what stays as long as the match has its world: the game, and the columns of clients.
/// `world` has the match's numbers, but not its seed.
void hc_sv_inspector_text_hello(struct hc_sv_json_text *text,
                                const struct hc_sv_match_setting *setting,
                                const struct hc_world *world, unsigned match, uint64_t worlds);

/// Adds a frame without its sights; `number` counts frames.
void hc_sv_inspector_text_frame(struct hc_sv_json_text *text, const struct hc_world *world,
                                const struct hc_sv_probe_frame *frame, uint64_t number);

/// Adds a sight of frame `number`.
void hc_sv_inspector_text_sight(struct hc_sv_json_text *text, const struct hc_world *world,
                                const struct hc_sv_probe_sight *sight, uint64_t number);
