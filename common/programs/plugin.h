/// The game of a program: the bundled arena, or a plugin of --game FILE.
#pragma once

#include "common/programs/library.h"
#include "hindcast/plugin.h"

/// A loaded game.
struct hc_plugin {
    const struct hc_game *game; ///< with its level
    hc_bot_think *think;        ///< NULL: bots choose random inputs
    uint64_t rule_hash;         ///< hc_game_rule_hash of the game
    bool loaded;                ///< `game` is that of the plugin, also if its match failed
    bool crashed;               ///< loading the plugin did not end: no other library can be loaded
    struct hc_library library;  ///< the plugin's; none of the arena
    struct hc_game *with_level; ///< `game` of a plugin with a level; else NULL
};

/// Loads the plugin `path`; NULL: the arena. Then it plays the match of hc_game_rule_hash. False:
/// the plugin cannot be used, and `why` is a sentence that names the option and the file. It also
/// names the function if one crashes, or computes for more than 5 s. The process has no other
/// thread in which a game runs; see guard.h.
bool hc_plugin_load(struct hc_plugin *plugin, const char *path, char *why, size_t why_size);

/// The same of the file and its level as they are now, beside the game that was loaded from them
/// before. On failure nothing stays loaded.
bool hc_plugin_load_anew(struct hc_plugin *plugin, const char *path, char *why, size_t why_size);

/// Releases the game, of which nothing may be called or read any more.
void hc_plugin_unload(struct hc_plugin *plugin);
