/// The keyboard, the mouse and the gamepads of hindcast-view, as the controls of one or two people.
#pragma once

#include "client/view/controls.h"

#include <SDL.h>

enum { HC_CL_DEVICES_PADS = 2 };

/// A gamepad.
struct hc_cl_devices_pad {
    SDL_GameController *controller; ///< NULL: there is none.
    bool buttons[HC_CL_CONTROLS_BUTTONS];
    bool trigger; ///< The right trigger is pressed.
};

/// The devices, as the events have left them: SDL's own state is ahead of the events that wait.
/// All zeros: no gamepad, and the mouse does not aim.
struct hc_cl_devices {
    struct hc_cl_devices_pad pads[HC_CL_DEVICES_PADS]; ///< Of the first and the second client.
    bool keys[SDL_NUM_SCANCODES];                      ///< The keys that are down.
    bool mouse;                                        ///< The mouse has moved: it aims.
    Uint32 mouse_buttons;                              ///< The buttons that are down, as a mask.
    int mouse_x, mouse_y;                              ///< The place of the mouse, pixels.
};

/// Takes in an event: keys and buttons that are pressed or released, gamepads that come and go, and
/// the mouse's moves.
void hc_cl_devices_event(struct hc_cl_devices *devices, const SDL_Event *event);

/// Closes the gamepads.
void hc_cl_devices_close(struct hc_cl_devices *devices);

/// Writes what a person moves or presses for a control of client `index` of `count`, such as "A D,
/// stick", to `text`. Returns `text`, which is empty for none.
const char *hc_cl_devices_name(enum hc_cl_control control, unsigned index, unsigned count,
                               char *text, size_t size);

/// The controls of client `index` of `count` (1 or 2), whose player is at `self` in the window, in
/// pixels; NULL: nowhere.
struct hc_cl_controls hc_cl_devices_read(const struct hc_cl_devices *devices, unsigned index,
                                         unsigned count, const SDL_FPoint *self);
