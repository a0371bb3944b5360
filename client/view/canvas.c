/// Owns the shapes and letters of the window, and the way from places of a world to pixels.
#include "client/view/canvas.h"

#include "client/view/font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST = 8, ///< pixels across the smallest bitmap of a round shape
    SAMPLES = 4,  ///< of each pixel's side, for smooth edges
    ADVANCE = HC_CL_FONT_COLUMNS + 1,
    GHOST_ALPHA = 190, ///< of 255
    RING = 2,          ///< pixels of an outline
};

static struct hc_cl_canvas *canvas_of(const struct hc_canvas *face) {
    return face->context;
}

static void set_colour(SDL_Renderer *renderer, uint32_t colour) {
    SDL_SetRenderDrawColor(renderer, (Uint8)(colour >> 24), (Uint8)(colour >> 16),
                           (Uint8)(colour >> 8), (Uint8)colour);
}

static void set_texture_colour(SDL_Texture *texture, uint32_t colour) {
    SDL_SetTextureColorMod(texture, (Uint8)(colour >> 24), (Uint8)(colour >> 16),
                           (Uint8)(colour >> 8));
    SDL_SetTextureAlphaMod(texture, (Uint8)colour);
}

/// The colour of a ghost's outline: lighter than the shape.
static uint32_t ghost_colour(uint32_t colour) {
    uint32_t light = 0;
    for (int shift = 8; shift < 32; shift += 8)
        light |= (((colour >> shift & 0xff) + 255) / 2) << shift;
    return light | (colour & 0xff) * GHOST_ALPHA / 255;
}

static SDL_Texture *make_texture(SDL_Renderer *renderer, int width, int height,
                                 const uint32_t *rgba, SDL_ScaleMode mode) {
    SDL_Texture *texture = SDL_CreateTexture(renderer, SDL_PIXELFORMAT_RGBA8888,
                                             SDL_TEXTUREACCESS_STATIC, width, height);
    if (texture == NULL)
        return NULL;
    SDL_UpdateTexture(texture, NULL, rgba, width * (int)sizeof(*rgba));
    SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND);
    SDL_SetTextureScaleMode(texture, mode);
    return texture;
}

/// Makes a white circle of `size` pixels, or its outline, with smooth edges; NULL: failed.
static SDL_Texture *make_disc(SDL_Renderer *renderer, int size, bool ring) {
    uint32_t *rgba = calloc((size_t)size * (size_t)size, sizeof(*rgba));
    double outer = size / 2.0, inner = ring ? outer - RING : 0;
    if (rgba == NULL)
        return NULL;
    for (int i = 0; i < size * size; i++) {
        uint32_t hits = 0;
        for (int sample = 0; sample < SAMPLES * SAMPLES; sample++) {
            int column = i % size, row = i / size;
            int sample_column = sample % SAMPLES, sample_row = sample / SAMPLES;
            double x = column + (sample_column + 0.5) / SAMPLES - outer;
            double y = row + (sample_row + 0.5) / SAMPLES - outer;
            double square = x * x + y * y;
            hits += square <= outer * outer && square >= inner * inner;
        }
        rgba[i] = 0xffffff00u | hits * 255 / (SAMPLES * SAMPLES);
    }
    SDL_Texture *texture = make_texture(renderer, size, size, rgba, SDL_ScaleModeLinear);
    free(rgba);
    return texture;
}

/// Makes the bitmap of all letters, side by side; NULL: failed.
static SDL_Texture *make_letters(SDL_Renderer *renderer) {
    static uint32_t rgba[HC_CL_FONT_ROWS][HC_CL_FONT_LETTERS * HC_CL_FONT_COLUMNS];
    for (int letter = 0; letter < HC_CL_FONT_LETTERS; letter++) {
        const uint8_t *rows = hc_cl_font_letter((char)(HC_CL_FONT_FIRST + letter));
        for (int y = 0; y < HC_CL_FONT_ROWS; y++)
            for (int x = 0; x < HC_CL_FONT_COLUMNS; x++)
                if (rows[y] >> (HC_CL_FONT_COLUMNS - 1 - x) & 1)
                    rgba[y][letter * HC_CL_FONT_COLUMNS + x] = 0xffffffff;
    }
    return make_texture(renderer, HC_CL_FONT_LETTERS * HC_CL_FONT_COLUMNS, HC_CL_FONT_ROWS,
                        &rgba[0][0], SDL_ScaleModeNearest);
}

// ---- Shapes of drawings -------------------------------------------------------------------------

static void draw_rectangle(const struct hc_canvas *face, double x, double y, double width,
                           double height, uint32_t colour) {
    const struct hc_cl_canvas *canvas = canvas_of(face);
    SDL_FPoint from = hc_cl_canvas_place(canvas, x - width / 2, y - height / 2);
    SDL_FPoint to = hc_cl_canvas_place(canvas, x + width / 2, y + height / 2);
    // Whole pixels, so that neighbours neither overlap nor leave a gap.
    SDL_Rect place = {(int)lroundf(from.x), (int)lroundf(from.y), 0, 0};
    place.w = SDL_max(1, (int)lroundf(to.x) - place.x);
    place.h = SDL_max(1, (int)lroundf(to.y) - place.y);
    if (!canvas->ghost) {
        hc_cl_canvas_fill(canvas, place, colour);
        return;
    }
    set_colour(canvas->renderer, ghost_colour(colour));
    for (int i = 0; i < RING; i++) {
        SDL_RenderDrawRect(canvas->renderer, &place);
        place = (SDL_Rect){place.x + 1, place.y + 1, place.w - 2, place.h - 2};
        if (place.w <= 0 || place.h <= 0)
            break;
    }
}

static void draw_disc(const struct hc_canvas *face, double x, double y, double radius,
                      uint32_t colour) {
    const struct hc_cl_canvas *canvas = canvas_of(face);
    SDL_FPoint at = hc_cl_canvas_place(canvas, x, y);
    float half = (float)(radius * canvas->scale);
    int size = 0;
    while (size + 1 < HC_CL_CANVAS_SIZES && (float)(SMALLEST << size) < 2 * half)
        size++;
    SDL_Texture *texture = (canvas->ghost ? canvas->rings : canvas->discs)[size];
    set_texture_colour(texture, canvas->ghost ? ghost_colour(colour) : colour);
    SDL_FRect place = {at.x - half, at.y - half, 2 * half, 2 * half};
    SDL_RenderCopyF(canvas->renderer, texture, NULL, &place);
}

static void draw_text(const struct hc_canvas *face, double x, double y, double height,
                      const char *text, uint32_t colour) {
    const struct hc_cl_canvas *canvas = canvas_of(face);
    SDL_FPoint at = hc_cl_canvas_place(canvas, x, y);
    int scale = SDL_max(1, (int)lround(height * canvas->scale / HC_CL_FONT_ROWS));
    if (!canvas->ghost)
        hc_cl_canvas_write(canvas, (int)at.x - hc_cl_canvas_width(scale, text) / 2,
                           (int)at.y - scale * HC_CL_FONT_ROWS / 2, scale, text, colour);
}

// ---- The canvas ---------------------------------------------------------------------------------

bool hc_cl_canvas_init(struct hc_cl_canvas *canvas, SDL_Renderer *renderer) {
    *canvas = (struct hc_cl_canvas){.renderer = renderer, .scale = 1};
    canvas->face = (struct hc_canvas){canvas, draw_rectangle, draw_disc, draw_text};
    canvas->letters = make_letters(renderer);
    bool good = canvas->letters != NULL;
    for (int i = 0; i < HC_CL_CANVAS_SIZES; i++) {
        canvas->discs[i] = make_disc(renderer, SMALLEST << i, false);
        canvas->rings[i] = make_disc(renderer, SMALLEST << i, true);
        good = good && canvas->discs[i] != NULL && canvas->rings[i] != NULL;
    }
    SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND);
    return good;
}

void hc_cl_canvas_free(struct hc_cl_canvas *canvas) {
    for (int i = 0; i < HC_CL_CANVAS_SIZES; i++) {
        SDL_DestroyTexture(canvas->discs[i]);
        SDL_DestroyTexture(canvas->rings[i]);
    }
    SDL_DestroyTexture(canvas->letters);
}

void hc_cl_canvas_begin(struct hc_cl_canvas *canvas, const SDL_Rect *pane,
                        const struct hc_area *area, uint32_t backdrop) {
    double across = pane->w / area->width, down = pane->h / area->height;
    canvas->pane = *pane;
    canvas->scale = across < down ? across : down;
    canvas->area.width = pane->w / canvas->scale;
    canvas->area.height = pane->h / canvas->scale;
    canvas->area.left = area->left + (area->width - canvas->area.width) / 2;
    canvas->area.top = area->top + (area->height - canvas->area.height) / 2;
    canvas->ghost = false;
    SDL_RenderSetViewport(canvas->renderer, pane);
    hc_cl_canvas_fill(canvas, (SDL_Rect){0, 0, pane->w, pane->h}, backdrop);
}

SDL_FPoint hc_cl_canvas_place(const struct hc_cl_canvas *canvas, double x, double y) {
    return (SDL_FPoint){(float)((x - canvas->area.left) * canvas->scale),
                        (float)((y - canvas->area.top) * canvas->scale)};
}

void hc_cl_canvas_fill(const struct hc_cl_canvas *canvas, SDL_Rect rectangle, uint32_t colour) {
    set_colour(canvas->renderer, colour);
    SDL_RenderFillRect(canvas->renderer, &rectangle);
}

int hc_cl_canvas_width(int scale, const char *text) {
    int letters = 0;
    for (; *text != '\0'; letters++)
        (void)hc_cl_font_next(&text);
    return letters * ADVANCE * scale;
}

int hc_cl_canvas_write(const struct hc_cl_canvas *canvas, int x, int y, int scale, const char *text,
                       uint32_t colour) {
    int width = hc_cl_canvas_width(scale, text);
    set_texture_colour(canvas->letters, colour);
    for (; *text != '\0'; x += ADVANCE * scale) {
        int letter = (unsigned char)hc_cl_font_next(&text) - HC_CL_FONT_FIRST;
        if (letter < 0 || letter >= HC_CL_FONT_LETTERS)
            letter = '?' - HC_CL_FONT_FIRST;
        SDL_Rect from = {letter * HC_CL_FONT_COLUMNS, 0, HC_CL_FONT_COLUMNS, HC_CL_FONT_ROWS};
        SDL_Rect to = {x, y, from.w * scale, from.h * scale};
        SDL_RenderCopy(canvas->renderer, canvas->letters, &from, &to);
    }
    return width;
}
