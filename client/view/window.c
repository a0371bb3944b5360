/// Owns the window, its keys and the drawing of its panes.
#include "client/view/window.h"

#include "client/view/drawings.h"
#include "client/view/keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_SCALE = 2, MARGIN = 10, TITLE_HEIGHT = 28, TITLE_SIZE = 64 };

static const uint32_t TEXT = 0xf4f6faff, FAINT = 0xa8b0c0ff, BAR = 0x0b0d11c8, GAP = 0x0b0d11ff;
static const char HINT[] = "F2: keys";

/// Whether a driver of SDL shows its windows to nobody: SDL falls back to one without a display.
static bool is_unseen(const char *driver) {
    return driver == NULL || strcmp(driver, "dummy") == 0 || strcmp(driver, "offscreen") == 0;
}

/// Sets the game, and writes the window's title, which names it.
static void set_game(struct hc_cl_window *window, const struct hc_plugin *plugin,
                     char title[static TITLE_SIZE]) {
    window->config.game = plugin->game;
    window->config.rule_hash = plugin->rule_hash;
    snprintf(title, TITLE_SIZE, "Hindcast: %s", plugin->game->name);
}

bool hc_cl_window_open(struct hc_cl_window *window, const struct hc_cl_options *options, char *why,
                       size_t why_size) {
    char title[TITLE_SIZE];
    bool hidden = options->frames > 0;
    *window = (struct hc_cl_window){
        .options = options, .overlay = options->overlay, .keys = options->keys};
    window->drawing = hc_cl_drawings_find(&window->drawing_library, options->plugin.game,
                                          options->drawing, false, why, why_size);
    if (window->drawing == NULL)
        return false;
    window->config = hc_client_config_default();
    set_game(window, &options->plugin, title);
    window->config.input_delay = options->timing.input_delay;
    window->config.input_delay_max = options->timing.input_delay_max;
    window->config.display_offset = options->display_offset;
    window->config.others = options->others;
    window->config.lead = options->timing.lead;
    window->config.lead_max = options->timing.lead_max;
    window->config.extrapolation = options->extrapolation;
    if (hidden)
        SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    bool good = SDL_Init(SDL_INIT_VIDEO | (hidden ? 0 : SDL_INIT_GAMECONTROLLER)) == 0;
    if (good && !hidden && is_unseen(SDL_GetCurrentVideoDriver())) {
        SDL_SetError("there is no display");
        good = false;
    }
    if (good)
        window->window = SDL_CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                          (int)options->width, (int)options->height,
                                          hidden ? SDL_WINDOW_HIDDEN : SDL_WINDOW_RESIZABLE);
    if (window->window != NULL)
        window->renderer =
            SDL_CreateRenderer(window->window, -1, hidden ? SDL_RENDERER_SOFTWARE : 0);
    good = window->renderer != NULL && hc_cl_canvas_init(&window->canvas, window->renderer);
    if (!good)
        snprintf(why, why_size, "no window: %s%s", SDL_GetError(),
                 hidden ? "" : " (--frames N needs no display)");
    return good;
}

void hc_cl_window_close_panes(struct hc_cl_window *window) {
    for (unsigned i = 0; i < window->count; i++)
        hc_cl_pane_close(&window->panes[i].client);
    window->count = 0;
}

bool hc_cl_window_change_game(struct hc_cl_window *window, const struct hc_plugin *plugin,
                              char *why, size_t why_size) {
    char title[TITLE_SIZE];
    hc_cl_window_close_panes(window);
    hc_library_close(&window->drawing_library);
    set_game(window, plugin, title);
    SDL_SetWindowTitle(window->window, title);
    window->drawing = hc_cl_drawings_find(&window->drawing_library, plugin->game,
                                          window->options->drawing, true, why, why_size);
    return window->drawing != NULL;
}

void hc_cl_window_close(struct hc_cl_window *window) {
    hc_cl_window_close_panes(window);
    if (window->renderer != NULL)
        hc_cl_canvas_free(&window->canvas);
    hc_cl_devices_close(&window->devices);
    SDL_DestroyRenderer(window->renderer);
    SDL_DestroyWindow(window->window);
    SDL_Quit();
    hc_library_close(&window->drawing_library);
}

/// Gives the clients of persons the inputs of the devices as they are.
static void give_inputs(struct hc_cl_window *window) {
    for (unsigned i = 0; i < window->count; i++) {
        struct hc_cl_window_pane *pane = &window->panes[i];
        if (pane->client.bot)
            continue;
        struct hc_cl_controls controls = hc_cl_devices_read(&window->devices, i, window->count,
                                                            pane->has_self ? &pane->self : NULL);
        hc_cl_controls_apply(window->config.game, &controls, pane->client.input);
        hc_client_set_input(pane->client.runner.client, 0, pane->client.input);
    }
}

void hc_cl_window_events(struct hc_cl_window *window) {
    SDL_Event event;
    while (SDL_PollEvent(&event)) {
        hc_cl_devices_event(&window->devices, &event);
        give_inputs(window); // each press, also of a key that a later event releases
        SDL_Keycode key = event.type == SDL_KEYDOWN ? event.key.keysym.sym : SDLK_UNKNOWN;
        window->closed = window->closed || event.type == SDL_QUIT || key == SDLK_ESCAPE;
        if (key == SDLK_F1 && event.key.repeat == 0)
            window->overlay = !window->overlay;
        if (key == SDLK_F2 && event.key.repeat == 0)
            window->keys = !window->keys;
    }
    give_inputs(window); // the own player has moved, so the mouse aims elsewhere
}

// ---- Drawing ------------------------------------------------------------------------------------

/// Widens the bounds of a pane to the place of an entity.
static void widen(struct hc_cl_window_pane *pane, double x, double y) {
    struct hc_area *bounds = &pane->bounds;
    if (!pane->has_bounds)
        *bounds = (struct hc_area){x, y, 1, 1};
    pane->has_bounds = true;
    double right = fmax(bounds->left + bounds->width, x), left = fmin(bounds->left, x);
    double bottom = fmax(bounds->top + bounds->height, y), top = fmin(bounds->top, y);
    *bounds = (struct hc_area){left, top, right - left, bottom - top};
}

/// The part of the world that a pane shows.
static struct hc_area area_of(const struct hc_cl_window *window, struct hc_cl_window_pane *pane,
                              const struct hc_world *world, uint64_t now_us) {
    const struct hc_client *client = pane->client.runner.client;
    struct hc_client_shown shown;
    if (window->drawing->area != NULL) {
        bool visible = hc_client_show(client, now_us,
                                      hc_world_player(world, hc_client_player(client, 0)), &shown);
        return window->drawing->area(world, visible ? &shown : NULL);
    }
    for (hc_entity next = 0; hc_client_show_next(client, now_us, &next, &shown);)
        if (shown.table->x != NULL)
            widen(pane, shown.values[hc_kind_field(shown.table, shown.table->x)],
                  shown.values[hc_kind_field(shown.table, shown.table->y)]);
    double margin = 0.05 * fmax(pane->bounds.width, pane->bounds.height) + 1;
    return (struct hc_area){pane->bounds.left - margin, pane->bounds.top - margin,
                            pane->bounds.width + 2 * margin, pane->bounds.height + 2 * margin};
}

/// The names of the players that the client sees.
static const char *const *names_of(struct hc_cl_window *window, const struct hc_client *client,
                                   const struct hc_world *world) {
    for (hc_player p = 0; p < world->players; p++)
        window->names[p] = hc_client_player_name(client, p);
    return window->names;
}

/// Takes the game events that the client has shown since the frame before.
static void take_events(struct hc_cl_window_pane *pane, uint64_t now_us) {
    struct hc_client_game_event event;
    while (hc_client_next_game_event(pane->client.runner.client, now_us, &event))
        hc_cl_shown_events_note(&pane->events, &event, now_us);
    hc_cl_shown_events_age(&pane->events, now_us);
}

/// In the order in which they are drawn.
enum layer { WITHOUT_OWNER, REFEREE, OF_PLAYERS, LAYERS };

static enum layer layer_of(const struct hc_client_shown *shown) {
    if (shown->entity == HC_REFEREE)
        return REFEREE;
    return shown->owner == HC_NO_PLAYER ? WITHOUT_OWNER : OF_PLAYERS;
}

/// Draws the entities of a layer.
static void draw_layer(const struct hc_cl_window *window, const struct hc_client *client,
                       const struct hc_frame *frame, enum layer layer, uint64_t now_us) {
    struct hc_client_shown shown;
    for (hc_entity next = 0; hc_client_show_next(client, now_us, &next, &shown);)
        if (layer_of(&shown) == layer)
            window->drawing->entity(frame, &shown);
}

/// Notes the place of the own player in the window, if the player is visible.
static void find_self(const struct hc_cl_window *window, struct hc_cl_window_pane *pane,
                      const struct hc_frame *frame, const SDL_Rect *place, uint64_t now_us) {
    struct hc_client_shown shown;
    hc_entity own = hc_world_player(frame->world, frame->own);
    if (!hc_client_show(pane->client.runner.client, now_us, own, &shown) || shown.table->x == NULL)
        return;
    pane->has_self = true;
    pane->self = hc_cl_canvas_place(&window->canvas,
                                    shown.values[hc_kind_field(shown.table, shown.table->x)],
                                    shown.values[hc_kind_field(shown.table, shown.table->y)]);
    pane->self.x += (float)place->x;
    pane->self.y += (float)place->y;
}

/// Draws all that is visible to the client.
static void draw_world(struct hc_cl_window *window, struct hc_cl_window_pane *pane,
                       const SDL_Rect *place, uint64_t now_us) {
    const struct hc_client *client = pane->client.runner.client;
    const struct hc_world *world = hc_client_world(client);
    struct hc_area area = area_of(window, pane, world, now_us);
    take_events(pane, now_us);
    hc_cl_canvas_begin(&window->canvas, place, &area, window->drawing->backdrop);
    struct hc_frame frame = {&window->canvas.face,
                             world,
                             window->canvas.area,
                             hc_client_player(client, 0),
                             names_of(window, client, world),
                             pane->events.at,
                             pane->events.count};
    if (window->drawing->background != NULL)
        window->drawing->background(&frame);
    if (window->overlay)
        hc_cl_overlay_ghosts(&window->canvas, client, window->drawing, &frame, now_us);
    for (enum layer layer = WITHOUT_OWNER; layer < LAYERS; layer++)
        draw_layer(window, client, &frame, layer, now_us);
    find_self(window, pane, &frame, place, now_us);
}

/// A text about a client that waits; NULL: it plays.
static const char *waits_for(const struct hc_cl_pane *pane) {
    switch (hc_client_state(pane->runner.client)) {
    case HC_CLIENT_CONNECTING:
    case HC_CLIENT_JOINING:
        return "connecting ...";
    case HC_CLIENT_STALLED:
        return "waiting for the server ...";
    case HC_CLIENT_RECONNECTING:
        return pane->restarts ? "the server restarts ..."
                              : "the connection is lost, and being made again ...";
    case HC_CLIENT_CLOSED:
        return pane->runner.stranded ? "the server plays another build of the game ..." : NULL;
    default:
        return NULL;
    }
}

static void draw_pane(struct hc_cl_window *window, unsigned index, const SDL_Rect *place,
                      uint64_t now_us) {
    struct hc_cl_window_pane *pane = &window->panes[index];
    static const struct hc_area nowhere = {0, 0, 1, 1};
    const struct hc_client *client = pane->client.runner.client;
    const char *wait = waits_for(&pane->client);
    struct hc_cl_canvas *canvas = &window->canvas;
    hc_tick shown, as_of;
    pane->has_self = false;
    if (hc_client_snapshot(client, &shown, &as_of))
        draw_world(window, pane, place, now_us);
    else
        hc_cl_canvas_begin(canvas, place, &nowhere, window->drawing->backdrop);
    hc_cl_canvas_fill(canvas, (SDL_Rect){0, 0, place->w, TITLE_HEIGHT}, BAR);
    hc_cl_canvas_write(canvas, MARGIN, (TITLE_HEIGHT - 7 * TITLE_SCALE) / 2, TITLE_SCALE,
                       pane->title, TEXT);
    int hint = place->w - MARGIN - hc_cl_canvas_width(TITLE_SCALE, HINT);
    if (hint > 2 * MARGIN + hc_cl_canvas_width(TITLE_SCALE, pane->title))
        hc_cl_canvas_write(canvas, hint, (TITLE_HEIGHT - 7 * TITLE_SCALE) / 2, TITLE_SCALE, HINT,
                           FAINT);
    if (wait != NULL)
        hc_cl_canvas_write(canvas, (place->w - hc_cl_canvas_width(TITLE_SCALE, wait)) / 2,
                           place->h / 2, TITLE_SCALE, wait, TEXT);
    hc_cl_overlay_count(&pane->overlay, client, now_us);
    if (window->overlay)
        hc_cl_overlay_draw(&pane->overlay, canvas, client);
    if (window->keys)
        hc_cl_keys_draw(canvas, window->config.game, index, window->count);
}

void hc_cl_window_draw(struct hc_cl_window *window, uint64_t now_us) {
    int width = 0, height = 0, panes = (int)window->count;
    SDL_RenderSetViewport(window->renderer, NULL);
    SDL_GetRendererOutputSize(window->renderer, &width, &height);
    SDL_SetRenderDrawColor(window->renderer, (Uint8)(GAP >> 24), (Uint8)(GAP >> 16),
                           (Uint8)(GAP >> 8), 255);
    SDL_RenderClear(window->renderer);
    int gap = panes > 1 ? 4 : 0;
    for (int i = 0; i < panes; i++) {
        int from = i * (width + gap) / panes, to = (i + 1) * (width + gap) / panes - gap;
        SDL_Rect place = {from, 0, to - from, height};
        draw_pane(window, (unsigned)i, &place, now_us);
    }
}
