// Owns the controls of the person: keyboard, mouse and touch on one canvas, as in hindcast-view.

const DIRECTIONS = {
    KeyA: [-1, 0],
    KeyD: [1, 0],
    KeyW: [0, -1],
    KeyS: [0, 1],
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
};
const BUTTONS = { Space: 0, KeyE: 1, KeyQ: 2, KeyF: 3 };
const STICK_RADIUS = 40; // pixels of the page

export class Person {
    /** Listens on `canvas` and to the window's keys. `onFirst` is called at each press: a person plays. */
    constructor(canvas, onPress) {
        this.pressed = new Set();
        this.stick = null; // { pointer, x, y, dx, dy } of the finger that steers
        this.aiming = null; // the pixel of the canvas at which mouse or finger aims
        this.firing = false;
        this.onPress = onPress;
        window.addEventListener('keydown', (event) => this.#keyDown(event));
        window.addEventListener('keyup', (event) => this.pressed.delete(event.code));
        window.addEventListener('blur', () => this.release());
        this.listen(canvas);
    }

    /** Mouse and touch of this canvas count too. */
    listen(canvas) {
        this.canvas = canvas;
        canvas.addEventListener('pointerdown', (event) => this.#pointerDown(event));
        canvas.addEventListener('pointermove', (event) => this.#pointerMove(event));
        for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, (event) => this.#pointerUp(event));
    }

    release() {
        this.pressed.clear();
        this.stick = null;
        this.firing = false;
    }

    #keyDown(event) {
        const known = event.code in DIRECTIONS || event.code in BUTTONS;
        // Keys of sliders, lists and buttons are theirs.
        if (!known || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, select, button, a, summary'))
            return;
        event.preventDefault();
        this.pressed.add(event.code);
        this.onPress();
    }

    #place(event) {
        const box = this.canvas.getBoundingClientRect(),
            scale = this.canvas.width / box.width;
        return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale, share: (event.clientX - box.left) / box.width };
    }

    #pointerDown(event) {
        const place = this.#place(event);
        this.canvas.setPointerCapture(event.pointerId);
        event.preventDefault();
        document.activeElement?.blur?.();
        if (event.pointerType !== 'mouse' && place.share < 0.5)
            this.stick = { pointer: event.pointerId, x: event.clientX, y: event.clientY, dx: 0, dy: 0 };
        else {
            this.aiming = place;
            this.firing = true;
        }
        this.onPress();
    }

    #pointerMove(event) {
        if (this.stick?.pointer === event.pointerId) {
            this.stick.dx = event.clientX - this.stick.x;
            this.stick.dy = event.clientY - this.stick.y;
        } else this.aiming = this.#place(event);
    }

    #pointerUp(event) {
        if (this.stick?.pointer === event.pointerId) this.stick = null;
        else this.firing = false;
    }

    /** The controls now; `self` is the pixel of the own player on the canvas, or null. */
    controls(self) {
        let x = 0,
            y = 0;
        for (const code of this.pressed) {
            x += DIRECTIONS[code]?.[0] ?? 0;
            y += DIRECTIONS[code]?.[1] ?? 0;
        }
        if (this.stick !== null) {
            x += this.stick.dx / STICK_RADIUS;
            y += this.stick.dy / STICK_RADIUS;
        }
        const limit = (value) => Math.max(-1, Math.min(1, value));
        x = limit(x);
        y = limit(y);
        // Without a mouse or a finger that aims, a player aims where it goes.
        const aims = this.aiming !== null && self !== null;
        return {
            x,
            y,
            aimX: aims ? this.aiming.x - self.x : x,
            aimY: aims ? this.aiming.y - self.y : y,
            buttons: [0, 1, 2, 3].map((button) => (button === 0 && this.firing) || this.#holds(button)),
        };
    }

    #holds(button) {
        for (const code of this.pressed) if (BUTTONS[code] === button) return true;
        return false;
    }
}
