/// The game of a program: the bundled arena, or a plugin of --game FILE.
#pragma once

#include "hindcast/plugin.h"

/// A loaded game.
struct hc_plugin {
    const struct hc_game *game; ///< with its level
    hc_bot_think *think;        ///< NULL: bots choose random inputs
    uint64_t rule_hash;         ///< hc_game_rule_hash of the game
    bool loaded;                ///< `game` is that of the plugin, also if its match failed
};

/// Loads the plugin `path` for the rest of the process; NULL: the arena. Then it plays the match of
/// hc_game_rule_hash. False: the plugin cannot be used, and `why` is a sentence that names the
/// option and the file. It also names the function if one crashes, or computes for more than 5 s.
/// The process has one thread; see guard.h.
bool hc_plugin_load(struct hc_plugin *plugin, const char *path, char *why, size_t why_size);
