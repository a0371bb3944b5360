/// Owns the state of keyboard, mouse and gamepads.
#include "client/view/devices.h"

#include <stdio.h>
#include <string.h>

enum { STICK_REST = 8000, STICK_FULL = 32767, TRIGGER_PRESSED = 8000 };

/// The keys of one half of the keyboard.
struct keys {
    SDL_Scancode left, right, up, down, buttons[HC_CL_CONTROLS_BUTTONS];
};

static const struct keys halves[] = {
    {SDL_SCANCODE_A,
     SDL_SCANCODE_D,
     SDL_SCANCODE_W,
     SDL_SCANCODE_S,
     {SDL_SCANCODE_SPACE, SDL_SCANCODE_E, SDL_SCANCODE_Q, SDL_SCANCODE_F}},
    {SDL_SCANCODE_LEFT,
     SDL_SCANCODE_RIGHT,
     SDL_SCANCODE_UP,
     SDL_SCANCODE_DOWN,
     {SDL_SCANCODE_RETURN, SDL_SCANCODE_RSHIFT, SDL_SCANCODE_RCTRL, SDL_SCANCODE_BACKSPACE}},
};

static const SDL_GameControllerButton pad_buttons[HC_CL_CONTROLS_BUTTONS] = {
    SDL_CONTROLLER_BUTTON_A, SDL_CONTROLLER_BUTTON_B, SDL_CONTROLLER_BUTTON_X,
    SDL_CONTROLLER_BUTTON_Y};

/// Adds a part to a list in `text`.
static void add_name(char *text, size_t size, const char *part) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "", part);
}

/// Adds two keys, by the letters that this keyboard has there.
static void add_keys_names(char *text, size_t size, SDL_Scancode first, SDL_Scancode second) {
    char both[64], name[32];
    snprintf(name, sizeof(name), "%s", SDL_GetKeyName(SDL_GetKeyFromScancode(first)));
    snprintf(both, sizeof(both), "%s %s", name, SDL_GetKeyName(SDL_GetKeyFromScancode(second)));
    add_name(text, size, both);
}

static void add_button_names(char *text, size_t size, unsigned button, unsigned index,
                             unsigned count) {
    static const char *const of_pad[HC_CL_CONTROLS_BUTTONS] = {"pad A", "pad B", "pad X", "pad Y"};
    for (unsigned half = 0; half < 2; half++)
        if (count == 1 || half == index)
            add_name(text, size,
                     SDL_GetKeyName(SDL_GetKeyFromScancode(halves[half].buttons[button])));
    if (index == 0 && button < 2)
        add_name(text, size, button == 0 ? "left mouse" : "right mouse");
    add_name(text, size, of_pad[button]);
}

const char *hc_cl_devices_name(enum hc_cl_control control, unsigned index, unsigned count,
                               char *text, size_t size) {
    bool across = control == HC_CL_CONTROL_X || control == HC_CL_CONTROL_BOTH;
    bool along = control == HC_CL_CONTROL_Y || control == HC_CL_CONTROL_BOTH;
    text[0] = '\0';
    for (unsigned half = 0; half < 2; half++) {
        if (count > 1 && half != index)
            continue;
        if (across)
            add_keys_names(text, size, halves[half].left, halves[half].right);
        if (along)
            add_keys_names(text, size, halves[half].up, halves[half].down);
    }
    if (across || along)
        add_name(text, size, "left stick");
    else if (control == HC_CL_CONTROL_AIM)
        add_name(text, size,
                 index == 0 ? "mouse, right stick, or the way" : "right stick, or the way");
    else if (control >= HC_CL_CONTROL_BUTTON)
        add_button_names(text, size, control - HC_CL_CONTROL_BUTTON, index, count);
    return text;
}

/// The gamepad of an instance of SDL; NULL: no client has it.
static struct hc_cl_devices_pad *pad_of(struct hc_cl_devices *devices, SDL_JoystickID instance) {
    for (int i = 0; i < HC_CL_DEVICES_PADS; i++) {
        SDL_GameController *controller = devices->pads[i].controller;
        if (controller != NULL && controller == SDL_GameControllerFromInstanceID(instance))
            return &devices->pads[i];
    }
    return NULL;
}

/// Gives a gamepad that comes to the first client without one.
static void add_pad(struct hc_cl_devices *devices, int device) {
    for (int i = 0; i < HC_CL_DEVICES_PADS; i++) {
        if (devices->pads[i].controller == NULL) {
            devices->pads[i].controller = SDL_GameControllerOpen(device);
            return;
        }
    }
}

static void press_on_pad(struct hc_cl_devices_pad *pad, const SDL_ControllerButtonEvent *event) {
    for (int i = 0; pad != NULL && i < HC_CL_CONTROLS_BUTTONS; i++)
        if (event->button == pad_buttons[i])
            pad->buttons[i] = event->state == SDL_PRESSED;
}

static void move_on_pad(struct hc_cl_devices_pad *pad, const SDL_ControllerAxisEvent *event) {
    if (pad != NULL && event->axis == SDL_CONTROLLER_AXIS_TRIGGERRIGHT)
        pad->trigger = event->value > TRIGGER_PRESSED;
}

static void remove_pad(struct hc_cl_devices_pad *pad) {
    if (pad == NULL)
        return;
    SDL_GameControllerClose(pad->controller);
    *pad = (struct hc_cl_devices_pad){.controller = NULL};
}

static void press_on_mouse(struct hc_cl_devices *devices, const SDL_MouseButtonEvent *event) {
    Uint32 button = (Uint32)SDL_BUTTON(event->button);
    if (event->state == SDL_PRESSED)
        devices->mouse_buttons |= button;
    else
        devices->mouse_buttons &= ~button;
}

void hc_cl_devices_event(struct hc_cl_devices *devices, const SDL_Event *event) {
    switch (event->type) {
    case SDL_KEYDOWN:
    case SDL_KEYUP:
        devices->keys[event->key.keysym.scancode] = event->key.state == SDL_PRESSED;
        break;
    case SDL_MOUSEMOTION:
        devices->mouse = true;
        devices->mouse_x = event->motion.x;
        devices->mouse_y = event->motion.y;
        break;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        press_on_mouse(devices, &event->button);
        break;
    case SDL_CONTROLLERDEVICEADDED:
        add_pad(devices, event->cdevice.which);
        break;
    case SDL_CONTROLLERDEVICEREMOVED:
        remove_pad(pad_of(devices, event->cdevice.which));
        break;
    case SDL_CONTROLLERBUTTONDOWN:
    case SDL_CONTROLLERBUTTONUP:
        press_on_pad(pad_of(devices, event->cbutton.which), &event->cbutton);
        break;
    case SDL_CONTROLLERAXISMOTION:
        move_on_pad(pad_of(devices, event->caxis.which), &event->caxis);
        break;
    default:
        break;
    }
}

void hc_cl_devices_close(struct hc_cl_devices *devices) {
    for (int i = 0; i < HC_CL_DEVICES_PADS; i++)
        if (devices->pads[i].controller != NULL)
            SDL_GameControllerClose(devices->pads[i].controller);
}

static void read_keys(const bool *pressed, const struct keys *keys,
                      struct hc_cl_controls *controls) {
    controls->x += pressed[keys->right] - pressed[keys->left];
    controls->y += pressed[keys->down] - pressed[keys->up];
    for (int i = 0; i < HC_CL_CONTROLS_BUTTONS; i++)
        controls->buttons[i] |= pressed[keys->buttons[i]];
}

static double stick(SDL_GameController *pad, SDL_GameControllerAxis axis) {
    int value = SDL_GameControllerGetAxis(pad, axis);
    return value > -STICK_REST && value < STICK_REST ? 0 : (double)value / STICK_FULL;
}

static void read_pad(const struct hc_cl_devices_pad *pad, struct hc_cl_controls *controls) {
    controls->x += stick(pad->controller, SDL_CONTROLLER_AXIS_LEFTX);
    controls->y += stick(pad->controller, SDL_CONTROLLER_AXIS_LEFTY);
    controls->aim_x = stick(pad->controller, SDL_CONTROLLER_AXIS_RIGHTX);
    controls->aim_y = stick(pad->controller, SDL_CONTROLLER_AXIS_RIGHTY);
    for (int i = 0; i < HC_CL_CONTROLS_BUTTONS; i++)
        controls->buttons[i] |= pad->buttons[i];
    controls->buttons[0] |= pad->trigger;
}

static void read_mouse(const struct hc_cl_devices *devices, const SDL_FPoint *self,
                       struct hc_cl_controls *controls) {
    controls->buttons[0] |= (devices->mouse_buttons & SDL_BUTTON_LMASK) != 0;
    controls->buttons[1] |= (devices->mouse_buttons & SDL_BUTTON_RMASK) != 0;
    if (self != NULL && controls->aim_x == 0 && controls->aim_y == 0) {
        controls->aim_x = devices->mouse_x - (double)self->x;
        controls->aim_y = devices->mouse_y - (double)self->y;
    }
}

struct hc_cl_controls hc_cl_devices_read(const struct hc_cl_devices *devices, unsigned index,
                                         unsigned count, const SDL_FPoint *self) {
    struct hc_cl_controls controls = {.x = 0};
    for (unsigned half = 0; half < 2; half++)
        if (count == 1 || half == index)
            read_keys(devices->keys, &halves[half], &controls);
    if (devices->pads[index].controller != NULL)
        read_pad(&devices->pads[index], &controls);
    if (index == 0 && devices->mouse)
        read_mouse(devices, self, &controls);
    controls.x = SDL_clamp(controls.x, -1, 1);
    controls.y = SDL_clamp(controls.y, -1, 1);
    if (controls.aim_x == 0 && controls.aim_y == 0) { // the aim follows the way
        controls.aim_x = controls.x;
        controls.aim_y = controls.y;
    }
    return controls;
}
