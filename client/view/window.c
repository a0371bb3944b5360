/// Owns the window, its keys and the drawing of its panes.
#include "client/view/window.h"

#include "client/view/drawings.h"
#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_SIZE = 64 }; ///< bytes

static const uint32_t GAP = 0x0b0d11ff;

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
    for (unsigned i = 0; i < HC_CL_WINDOW_PANES; i++)
        window->knobs[i] = hc_cl_knobs_begin(options, i);
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

/// Shows a text about a pane for a while.
static void note(struct hc_cl_window_pane *pane, const char *text) {
    snprintf(pane->notice, sizeof(pane->notice), "%s", text);
    pane->notice_us = hc_clock_us();
}

/// Gives a pane other knobs, and logs and shows the text about the change.
static void change(struct hc_cl_window *window, unsigned index, const struct hc_cl_knobs *knobs,
                   enum hc_cl_knobs_change change, const char *text) {
    static const char *const names[HC_CL_WINDOW_PANES] = {"left: ", "right: "};
    struct hc_cl_window_pane *pane = &window->panes[index];
    if (!hc_cl_pane_apply(&pane->client, knobs, change)) {
        note(pane, "the client has no room for that");
        return;
    }
    window->knobs[index] = *knobs;
    note(pane, text);
    if (change != HC_CL_KNOBS_NOTHING)
        printf("%s%s\n", window->count > 1 ? names[index] : "", text);
    fflush(stdout);
}

/// Changes the knobs of the pane with the focus; `all`: those of the others to the same.
static void turn(struct hc_cl_window *window, enum hc_cl_window_key key, bool all) {
    char text[HC_CL_KNOBS_TEXT];
    struct hc_cl_knobs first = window->knobs[window->focus];
    enum hc_cl_knobs_change part = hc_cl_knobs_press(&first, key, window->config.game, text);
    for (unsigned i = 0; i < window->count; i++) {
        struct hc_cl_knobs knobs = window->knobs[i];
        hc_cl_knobs_copy(&knobs, key, &first);
        if (i == window->focus || all)
            change(window, i, &knobs, part, text);
    }
}

/// Does what a key of the window does; `all`: to all panes.
static void press(struct hc_cl_window *window, enum hc_cl_window_key key, bool all) {
    switch (key) {
    case HC_CL_WINDOW_KEY_figures:
        window->overlay = !window->overlay;
        break;
    case HC_CL_WINDOW_KEY_keys:
        window->keys = !window->keys;
        break;
    case HC_CL_WINDOW_KEY_focus:
        window->focus = window->count > 0 ? (window->focus + 1) % window->count : 0;
        break;
    case HC_CL_WINDOW_KEY_leave:
        window->closed = true;
        break;
    case HC_CL_WINDOW_KEY_COUNT:
        break;
    default:
        if (window->count > 0)
            turn(window, key, all);
    }
}

void hc_cl_window_events(struct hc_cl_window *window) {
    SDL_Event event;
    while (SDL_PollEvent(&event)) {
        hc_cl_devices_event(&window->devices, &event);
        give_inputs(window); // each press, also of a key that a later event releases
        window->closed = window->closed || event.type == SDL_QUIT;
        press(window, hc_cl_keys_pressed(&event), (event.key.keysym.mod & KMOD_LSHIFT) != 0);
    }
    give_inputs(window); // the own player has moved, so the mouse aims elsewhere
}

// ---- Drawing ------------------------------------------------------------------------------------

/// Takes the game events that the client has shown since the frame before.
static void take_events(struct hc_cl_window_pane *pane, uint64_t now_us) {
    struct hc_client_game_event event;
    while (hc_client_next_game_event(pane->client.runner.client, now_us, &event))
        hc_cl_scene_note(&pane->scene, &event, now_us);
}

/// Notes the place of the own player in the window, if the player is visible.
static void find_self(const struct hc_cl_window *window, struct hc_cl_window_pane *pane,
                      const SDL_Rect *place) {
    double x, y;
    pane->has_self = hc_cl_scene_self(&pane->scene, &x, &y);
    if (!pane->has_self)
        return;
    pane->self = hc_cl_canvas_place(&window->canvas, x, y);
    pane->self.x += (float)place->x;
    pane->self.y += (float)place->y;
}

/// Draws all that is visible to the client.
static void draw_world(struct hc_cl_window *window, struct hc_cl_window_pane *pane,
                       const SDL_Rect *place, uint64_t now_us) {
    struct hc_cl_canvas *canvas = &window->canvas;
    pane->scene.client = pane->client.runner.client;
    pane->scene.drawing = window->drawing;
    take_events(pane, now_us);
    struct hc_area area = hc_cl_scene_area(&pane->scene, now_us);
    hc_cl_canvas_begin(canvas, place, &area, window->drawing->backdrop);
    hc_cl_scene_begin(&pane->scene, &canvas->face, &canvas->area, now_us);
    hc_cl_scene_background(&pane->scene);
    if (window->overlay) {
        canvas->ghost = true;
        hc_cl_scene_ghosts(&pane->scene, 1 / canvas->scale);
        canvas->ghost = false;
    }
    hc_cl_scene_entities(&pane->scene);
    find_self(window, pane, place);
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

/// The text below the title of a pane: about a change that was made a moment ago, or a client that
/// waits; NULL: there is none.
static const char *notice_of(const struct hc_cl_window_pane *pane, uint64_t now_us) {
    if (pane->notice_us > 0 && hc_since(pane->notice_us, now_us) < HC_CL_WINDOW_NOTICE_US)
        return pane->notice;
    return waits_for(&pane->client);
}

/// The notice that the server has sent a moment ago; NULL: none.
static const char *server_notice_of(const struct hc_cl_pane *pane, uint64_t now_us) {
    bool shows = pane->server_notice[0] != '\0' &&
                 hc_since(pane->server_notice_us, now_us) < HC_CL_WINDOW_SERVER_NOTICE_US;
    return shows ? pane->server_notice : NULL;
}

/// Draws the texts over a pane.
static void draw_texts(struct hc_cl_window *window, unsigned index, const SDL_Rect *place,
                       uint64_t now_us) {
    static struct hc_cl_keys_row rows[HC_CL_KEYS_ROWS];
    const struct hc_cl_window_pane *pane = &window->panes[index];
    const struct hc_cl_knobs *knobs = &window->knobs[index];
    const struct hc_client *client = pane->client.runner.client;
    const struct hc_world *world = hc_client_world(client);
    struct hc_cl_figure figures[HC_CL_FIGURE_COUNT];
    struct hc_cl_overlay_layout overlay;
    char title[HC_CL_LABEL_TEXT];
    struct hc_cl_figures_source source = {.from = pane->overlay.from,
                                          .to = pane->overlay.to,
                                          .timing = knobs->timing,
                                          .tick_rate = world != NULL ? world->tick_rate : 0};
    (void)hc_client_recent(client, &source.recent); // mostly 0 before the first snapshot
    hc_cl_figures_write(&source, figures);
    hc_cl_simulated_link_describe(&knobs->link, title, sizeof(title));
    struct hc_cl_texts_wish wish = {.width = place->w,
                                    .height = place->h,
                                    .title = title,
                                    .notice = notice_of(pane, now_us),
                                    .server_notice = server_notice_of(&pane->client, now_us),
                                    .marked = window->count > 1 && index == window->focus,
                                    .figures = window->overlay ? figures : NULL,
                                    .keys = window->keys ? rows : NULL};
    if (window->keys)
        wish.key_count = hc_cl_keys_list(window->config.game, index, window->count, rows);
    hc_cl_texts_place(&wish, &window->labels, &overlay);
    hc_cl_labels_draw(&window->labels, &window->canvas);
    if (window->overlay)
        hc_cl_overlay_bars(&pane->overlay, &window->canvas, &overlay);
}

static void draw_pane(struct hc_cl_window *window, unsigned index, const SDL_Rect *place,
                      uint64_t now_us) {
    struct hc_cl_window_pane *pane = &window->panes[index];
    static const struct hc_area nowhere = {0, 0, 1, 1};
    const struct hc_client *client = pane->client.runner.client;
    hc_tick shown, as_of;
    pane->has_self = false;
    if (hc_client_snapshot(client, &shown, &as_of))
        draw_world(window, pane, place, now_us);
    else
        hc_cl_canvas_begin(&window->canvas, place, &nowhere, window->drawing->backdrop);
    hc_cl_overlay_count(&pane->overlay, client, now_us);
    draw_texts(window, index, place, now_us);
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
