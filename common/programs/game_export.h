/// The content of a plugin, against the interface of this program.
#pragma once

#include "hindcast/plugin.h"

/// Checks that a game was compiled for this program, and is valid. False: `why` (`why_size` bytes)
/// is the rest of a sentence that names the fault.
bool hc_game_export_check(const struct hc_game_export *found, char *why, size_t why_size);
