/// Loads plugins, and refuses those that this program cannot run.
#define _POSIX_C_SOURCE 200809L

#include "common/programs/plugin.h"

#include "hindcast/arena.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_MAX_BYTES = 4096,
    LEVEL_MAX = 64 << 20, ///< bytes
};

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
    static const char *const names[HC_GAME_STRUCTS] = {"hc_game",  "hc_kind",  "hc_field",
                                                       "hc_world", "hc_scene", "hc_bot"};
    static const uint32_t sizes[HC_GAME_STRUCTS] = HC_GAME_SIZES;
    if (found->abi != HC_GAME_ABI) {
        snprintf(why, why_size,
                 "it was compiled for version %u of the game interface, and this program has "
                 "version %u: compile it with this program's headers",
                 (unsigned)found->abi, (unsigned)HC_GAME_ABI);
        return false;
    }
    for (unsigned i = 0; i < HC_GAME_STRUCTS; i++)
        if (found->sizes[i] != sizes[i]) {
            snprintf(why, why_size,
                     "its struct %s has %u bytes, and this program's %u: compile it with this "
                     "program's headers",
                     names[i], (unsigned)found->sizes[i], (unsigned)sizes[i]);
            return false;
        }
    if (found->game == NULL) {
        snprintf(why, why_size, "it exports no game");
        return false;
    }
    return hc_game_check(found->game, why, why_size) == NULL;
}

/// Maps the file of a level into memory for the rest of the process; false: `why` tells why not.
static bool map_level(const char *path, struct hc_game *game, char *why, size_t why_size) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool good = descriptor >= 0 && fstat(descriptor, &status) == 0;
    void *level = MAP_FAILED;
    if (good && (!S_ISREG(status.st_mode) || status.st_size < 1 || status.st_size > LEVEL_MAX)) {
        snprintf(why, why_size, "its level '%s' is no file of 1 to %d bytes", path, LEVEL_MAX);
        close(descriptor);
        return false;
    }
    if (good)
        level = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (level == MAP_FAILED)
        snprintf(why, why_size, "its level '%s': %s", path, strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    if (level == MAP_FAILED)
        return false;
    game->level = level;
    game->level_size = (uint32_t)status.st_size;
    return true;
}

/// Gives the game its level; the plugin's own struct hc_game is constant. False: `why` tells why
/// not.
static bool load_level(struct hc_plugin *plugin, const char *path, const char *level, char *why,
                       size_t why_size) {
    char place[PATH_MAX_BYTES];
    const char *slash = strrchr(path, '/');
    int directory = slash != NULL && level[0] != '/' ? (int)(slash - path + 1) : 0;
    int length = snprintf(place, sizeof(place), "%.*s%s", directory, path, level);
    if (length < 0 || (size_t)length >= sizeof(place)) {
        snprintf(why, why_size, "the path of its level is too long");
        return false;
    }
    struct hc_game *game = malloc(sizeof(*game));
    if (game == NULL) {
        snprintf(why, why_size, "not enough memory");
        return false;
    }
    *game = *plugin->game;
    if (!map_level(place, game, why, why_size)) {
        free(game);
        return false;
    }
    plugin->game = game;
    return true;
}

/// Loads the plugin at `path`; false: `why` tells why not.
static bool load(struct hc_plugin *plugin, const char *path, char *why, size_t why_size) {
    const struct hc_game_export *found = open_library(path, why, why_size);
    if (found == NULL || !check_export(found, why, why_size))
        return false;
    plugin->game = found->game;
    plugin->think = found->think;
    return found->level == NULL || load_level(plugin, path, found->level, why, why_size);
}

bool hc_plugin_load(struct hc_plugin *plugin, const char *path, char *why, size_t why_size) {
    char cause[PATH_MAX_BYTES + 256] = "";
    *plugin = (struct hc_plugin){.game = &hc_arena, .think = hc_arena_think};
    if (path != NULL && !load(plugin, path, cause, sizeof(cause))) {
        snprintf(why, why_size, "--game '%s': %s", path, cause);
        return false;
    }
    plugin->rule_hash = hc_game_rule_hash(plugin->game, NULL);
    if (plugin->rule_hash == 0)
        snprintf(why, why_size, "not enough memory for the game %s", plugin->game->name);
    return plugin->rule_hash != 0;
}
