/// The NPCs of --npcs: players of the server, which think as the game's bots do.
#pragma once

#include "server/daemon/options.h"

struct hc_sv_npcs;

/// Adds the NPCs of the options to a server, which is borrowed. NULL: no memory.
struct hc_sv_npcs *hc_sv_npcs_create(struct hc_server *server, const struct hc_sv_options *options);

/// Frees it; NULL is allowed.
void hc_sv_npcs_destroy(struct hc_sv_npcs *npcs);

/// Lets each NPC choose its next input, if the server has reached another tick.
void hc_sv_npcs_think(struct hc_sv_npcs *npcs);
