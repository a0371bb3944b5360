/// Loads plugins, and refuses those that this program cannot run.
#define _POSIX_C_SOURCE 200809L

#include "common/programs/plugin.h"

#include "hindcast/arena.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PATH_MAX_BYTES = 4096 };

/// Opens the library and finds its symbol; NULL: it has none, and `why` tells why.
static const struct hc_game_export *open_library(const char *path, char *why, size_t why_size) {
    char place[PATH_MAX_BYTES];
    // Without a slash the system would search its own directories for the file.
    int length =
        snprintf(place, sizeof(place), "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    if (length < 0 || (size_t)length >= sizeof(place)) {
        snprintf(why, why_size, "the path is too long");
        return NULL;
    }
    void *library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(why, why_size, "%s", dlerror());
        return NULL;
    }
    const struct hc_game_export *found = dlsym(library, "hindcast_game");
    if (found == NULL)
        snprintf(why, why_size,
                 "it has no symbol hindcast_game, which HC_GAME_EXPORT of hindcast/plugin.h "
                 "defines");
    return found;
}

/// Checks that the plugin is one of this program's; false: `why` tells why not.
static bool check_export(const struct hc_game_export *found, char *why, size_t why_size) {
    if (found->abi != HC_GAME_ABI) {
        snprintf(why, why_size,
                 "it was compiled for version %u of the game interface, and this program has "
                 "version %u: compile it with this program's headers",
                 (unsigned)found->abi, (unsigned)HC_GAME_ABI);
        return false;
    }
    if (found->game_size != sizeof(struct hc_game) || found->game == NULL) {
        snprintf(why, why_size,
                 "its struct hc_game has %u bytes, and this program's %zu: compile it with this "
                 "program's headers",
                 (unsigned)found->game_size, sizeof(struct hc_game));
        return false;
    }
    return hc_game_check(found->game, why, why_size) == NULL;
}

bool hc_plugin_load(struct hc_plugin *plugin, const char *path, char *why, size_t why_size) {
    char cause[PATH_MAX_BYTES + 256] = "";
    *plugin = (struct hc_plugin){.game = &hc_arena, .think = hc_arena_think};
    if (path != NULL) {
        const struct hc_game_export *found = open_library(path, cause, sizeof(cause));
        if (found == NULL || !check_export(found, cause, sizeof(cause))) {
            snprintf(why, why_size, "--game '%s': %s", path, cause);
            return false;
        }
        plugin->game = found->game;
        plugin->think = found->think;
    }
    plugin->rule_hash = hc_game_rule_hash(plugin->game, NULL);
    if (plugin->rule_hash == 0)
        snprintf(why, why_size, "not enough memory for the game %s", plugin->game->name);
    return plugin->rule_hash != 0;
}
