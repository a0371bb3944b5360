/// Owns the way from a renderer to a PNG file.
#include "client/view/screenshot.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIXEL = 3 }; ///< bytes

bool hc_cl_screenshot_write(SDL_Renderer *renderer, const char *path, char *why, size_t why_size) {
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    int width = 0, height = 0;
    SDL_RenderSetViewport(renderer, NULL);
    SDL_GetRendererOutputSize(renderer, &width, &height);
    uint8_t *pixels = calloc((size_t)width * (size_t)height, PIXEL);
    bool good = pixels != NULL && SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_RGB24,
                                                       pixels, width * PIXEL) == 0;
    if (!good)
        snprintf(why, why_size, "--screenshot '%s': %s", path, SDL_GetError());
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    if (good && png_image_write_to_file(&image, path, 0, pixels, 0, NULL) == 0) {
        snprintf(why, why_size, "--screenshot '%s': %s", path, image.message);
        good = false;
    }
    free(pixels);
    return good;
}
