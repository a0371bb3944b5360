/// Loads plugins, and refuses those that this program cannot run.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "common/programs/plugin.h"

#include "common/programs/game_export.h"
#include "common/programs/guard.h"
#include "hindcast/arena.h"

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
    MOST_S = 5,           ///< of processor time, for its loading and for its match
};

/// Opens the library and finds its symbol; NULL: it has none, and `why` tells why.
static const struct hc_game_export *open_library(struct hc_library *library, const char *path,
                                                 bool anew, char *why, size_t why_size) {
    if (!hc_library_open(library, path, anew, why, why_size))
        return NULL;
    const struct hc_game_export *found = hc_library_find(library, "hindcast_game");
    if (found == NULL)
        snprintf(why, why_size,
                 "it has no symbol hindcast_game, which HC_GAME_EXPORT of hindcast/plugin.h "
                 "defines");
    return found;
}

/// Reads a whole file into memory of its own that nobody can write to. The file itself may change,
/// or become shorter, while the game runs. NULL, with errno: it cannot be read.
static void *read_all(int descriptor, size_t size) {
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    ssize_t got = 0;
    for (size_t at = 0; at < size; at += (size_t)got) {
        got = read(descriptor, bytes + at, size - at);
        if (got > 0)
            continue;
        if (got == 0)
            errno = EIO; // it became shorter
        int cause = errno;
        munmap(bytes, size);
        errno = cause;
        return NULL;
    }
    mprotect(bytes, size, PROT_READ);
    return bytes;
}

/// Reads the file of a level into memory; false: `why` tells why not.
static bool read_level(const char *path, struct hc_game *game, char *why, size_t why_size) {
    struct stat status;
    int descriptor =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe would wait for a writer
    bool good = descriptor >= 0 && fstat(descriptor, &status) == 0;
    if (good && (!S_ISREG(status.st_mode) || status.st_size < 1 || status.st_size > LEVEL_MAX)) {
        snprintf(why, why_size, "its level '%s' is no file of 1 to %d bytes", path, LEVEL_MAX);
        close(descriptor);
        return false;
    }
    void *level = good ? read_all(descriptor, (size_t)status.st_size) : NULL;
    if (level == NULL)
        snprintf(why, why_size, "its level '%s': %s", path, strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    if (level == NULL)
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
    if (!read_level(place, game, why, why_size)) {
        free(game);
        return false;
    }
    plugin->game = plugin->with_level = game;
    return true;
}

/// Loads the plugin at `path`; false: `why` tells why not.
static bool load(struct hc_plugin *plugin, const char *path, bool anew, char *why,
                 size_t why_size) {
    const struct hc_game_export *found = open_library(&plugin->library, path, anew, why, why_size);
    if (found == NULL || !hc_game_export_check(found, why, why_size))
        return false;
    hc_guard_game(found);
    plugin->game = found->game;
    plugin->think = found->think;
    return found->level == NULL || load_level(plugin, path, found->level, why, why_size);
}

/// The arguments of the calls that a crash may end.
struct call {
    struct hc_plugin *plugin;
    const char *path;
    bool anew;
    char cause[PATH_MAX_BYTES + 256];
};

static void load_guarded(void *context) {
    struct call *call = context;
    call->plugin->loaded =
        load(call->plugin, call->path, call->anew, call->cause, sizeof(call->cause));
}

static void play_guarded(void *context) {
    struct call *call = context;
    call->plugin->rule_hash = hc_game_rule_hash(call->plugin->game, NULL);
}

/// Loads the plugin and plays its match; false: the cause tells why it cannot be used.
static bool try(struct call *call) {
    struct hc_guard_end end;
    char ending[HC_GUARD_TEXT];
    call->plugin->crashed = call->path != NULL && !hc_guard_call(load_guarded, call, MOST_S, &end);
    if (call->plugin->crashed)
        snprintf(call->cause, sizeof(call->cause), "its loading %s", hc_guard_ending(&end, ending));
    else if (call->path != NULL && !call->plugin->loaded)
        return false;
    else if (!hc_guard_call(play_guarded, call, MOST_S, &end))
        snprintf(call->cause, sizeof(call->cause),
                 "the match that every program plays at its start %s",
                 hc_guard_ending(&end, ending));
    else if (call->plugin->rule_hash == 0)
        snprintf(call->cause, sizeof(call->cause), "not enough memory");
    return call->plugin->rule_hash != 0;
}

static bool load_and_play(struct hc_plugin *plugin, const char *path, bool anew, char *why,
                          size_t why_size) {
    struct call call = {.plugin = plugin, .path = path, .anew = anew};
    *plugin = (struct hc_plugin){.game = &hc_arena, .think = hc_arena_think};
    hc_guard_begin();
    bool good = try(&call);
    hc_guard_end();
    if (!good)
        snprintf(why, why_size, "--game '%s': %s", path != NULL ? path : "arena", call.cause);
    return good;
}

bool hc_plugin_load(struct hc_plugin *plugin, const char *path, char *why, size_t why_size) {
    return load_and_play(plugin, path, false, why, why_size);
}

bool hc_plugin_load_anew(struct hc_plugin *plugin, const char *path, char *why, size_t why_size) {
    bool good = load_and_play(plugin, path, true, why, why_size);
    if (!good)
        hc_plugin_unload(plugin);
    return good;
}

void hc_plugin_unload(struct hc_plugin *plugin) {
    if (plugin->crashed) // the loader's lock is held
        return;
    if (plugin->with_level != NULL)
        munmap((void *)plugin->with_level->level, plugin->with_level->level_size);
    free(plugin->with_level);
    if (plugin->library.handle != NULL) {
        hc_guard_forget(hc_library_find(&plugin->library, "hindcast_game"));
        hc_library_close(&plugin->library);
    }
    plugin->with_level = NULL;
}
