/// Owns the events of keys that nobody presses.
#include "client/view/presses.h"

#include <SDL.h>
#include <stdio.h>
#include <string.h>

static const char SHIFT[] = "Left Shift+";

enum { NAME_MAX_BYTES = 32 };

/// Takes the first key of `*text`, and whether the left Shift key is held with it.
static SDL_Keycode take(const char **text, bool *shift, char name[static NAME_MAX_BYTES]) {
    size_t length = strcspn(*text, ",");
    snprintf(name, NAME_MAX_BYTES, "%.*s", (int)length, *text);
    *text += length;
    *text += **text == ',';
    *shift = strncmp(name, SHIFT, strlen(SHIFT)) == 0;
    return SDL_GetKeyFromName(*shift ? name + strlen(SHIFT) : name);
}

bool hc_cl_presses_check(const char *text, char *why, size_t why_size) {
    char name[NAME_MAX_BYTES];
    bool shift;
    do {
        if (take(&text, &shift, name) == SDLK_UNKNOWN) {
            snprintf(why, why_size, "--press: '%s' is no key", name);
            return false;
        }
    } while (*text != '\0');
    return true;
}

static void push(SDL_Keycode key, bool down, bool shift) {
    SDL_Event event = {.key = {.type = down ? SDL_KEYDOWN : SDL_KEYUP,
                               .state = down ? SDL_PRESSED : SDL_RELEASED,
                               .keysym = {.scancode = SDL_GetScancodeFromKey(key),
                                          .sym = key,
                                          .mod = shift ? KMOD_LSHIFT : KMOD_NONE}}};
    SDL_PushEvent(&event);
}

void hc_cl_presses_push(const char **text) {
    char name[NAME_MAX_BYTES];
    bool shift;
    if (*text == NULL || **text == '\0')
        return;
    SDL_Keycode key = take(text, &shift, name);
    push(key, true, shift);
    push(key, false, shift);
}
