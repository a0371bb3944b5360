/// A frame as a PNG picture.
#pragma once

#include <SDL.h>
#include <stdbool.h>
#include <stddef.h>

/// Writes the frame of `renderer`, before it is presented, to the file `path`. False: failed, and
/// `why` is a sentence.
bool hc_cl_screenshot_write(SDL_Renderer *renderer, const char *path, char *why, size_t why_size);
