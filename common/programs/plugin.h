/// The game of a program: the bundled arena, or a plugin of --game FILE.
#pragma once

#include "hindcast/plugin.h"

/// A loaded game.
struct hc_plugin {
    const struct hc_game *game; ///< with its level
    hc_bot_think *think;        ///< NULL: bots choose random inputs
    uint64_t rule_hash;         ///< hc_game_rule_hash of the game
};

/// Loads the plugin `path` for the rest of the process; NULL: the arena. False: it cannot be used,
/// and `why` is a sentence that names the option and the file.
bool hc_plugin_load(struct hc_plugin *plugin, const char *path, char *why, size_t why_size);
