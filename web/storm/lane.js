// Owns the lane of ticks: a row for each player with how its inputs arrived, and an arc for each rewind.

import { GUESSED, IN_TIME, LATE, REFUSED } from './past.js';

const CELL = 9, // pixels of a tick
    ROW = 16,
    ARCS = 78, // pixels above the rows
    NAMES = 60, // pixels for the names
    FADE_TICKS = 40;

export class Lane {
    /** Draws on `canvas`. `onSelect` is called when another rewind is `selected`, or none. */
    constructor(canvas, onSelect) {
        this.canvas = canvas;
        this.context = canvas.getContext('2d');
        this.selected = null;
        this.shownHead = 0;
        this.past = null;
        this.onSelect = onSelect;
        canvas.addEventListener('pointerdown', (event) => {
            const found = this.#rewindAt(event);
            this.select(found === this.selected ? null : found);
        });
    }

    /** Chooses a rewind; null: none. */
    select(rewind) {
        this.selected = rewind;
        this.onSelect();
    }

    /** Fits the canvas to its width on the page. */
    #fit(rows) {
        const ratio = window.devicePixelRatio || 1,
            width = this.canvas.clientWidth,
            height = ARCS + rows * ROW + 22;
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
            this.canvas.style.height = `${height}px`;
        }
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.width = width;
        this.height = height;
        this.ahead = width > 600 ? 14 : 6; // ticks right of the head: inputs that are there before their tick
    }

    /** The pixel of a tick's left edge. */
    #x(tick) {
        return this.width - (this.ahead + this.shownHead - tick) * CELL;
    }

    /** Draws the lane of `past` with these rows, each { player, name }, in the page's colours. */
    draw(past, rows, colours) {
        this.#fit(rows.length);
        this.rowOf = new Map(rows.map(({ player }, row) => [player, row]));
        this.past = past;
        this.shownHead = past.server.head();
        const { context, width, height } = this,
            first = Math.max(0, this.shownHead - Math.ceil((width - NAMES) / CELL) + this.ahead);
        context.clearRect(0, 0, width, height);
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        this.#drawNow(colours);
        rows.forEach(({ name }, row) => this.#drawName(name, row, colours));
        this.#drawAxis(first, rows.length, colours);
        context.save();
        context.beginPath();
        context.rect(NAMES, 0, width - NAMES, height);
        context.clip();
        rows.forEach(({ player }, row) => this.#drawRow(past, player, row, first, colours));
        for (const rewind of past.rewinds) this.#drawRewind(rewind, colours);
        context.restore();
    }

    #drawNow(colours) {
        const { context } = this,
            x = this.#x(this.shownHead);
        context.fillStyle = colours.soft;
        context.fillRect(x, 14, this.width - x, this.height - 14);
        context.fillStyle = colours.text;
        context.fillRect(x - 1, 14, 2, this.height - 14);
        context.textAlign = 'center';
        context.fillText('now', x, 7);
    }

    #drawRow(past, player, row, first, colours) {
        const { context } = this,
            fills = { [IN_TIME]: colours.inTime, [GUESSED]: colours.guessed, [LATE]: colours.late, [REFUSED]: colours.refused };
        const y = ARCS + row * ROW + 2;
        for (let tick = first; tick < this.shownHead + this.ahead; tick++) {
            const fill = fills[past.arrival(player, tick)];
            if (fill === undefined) {
                if (tick >= this.shownHead || tick < past.joined[player]) continue;
                context.strokeStyle = colours.line;
                context.strokeRect(this.#x(tick) + 1.5, y + 0.5, CELL - 3, ROW - 5);
            } else {
                context.fillStyle = fill;
                context.fillRect(this.#x(tick) + 1, y, CELL - 2, ROW - 4);
            }
        }
    }

    #drawName(name, row, colours) {
        const { context } = this;
        context.textAlign = 'left';
        context.fillStyle = colours.text;
        context.fillText(name, 2, ARCS + row * ROW + ROW / 2);
    }

    #drawAxis(first, rows, colours) {
        const { context } = this,
            y = ARCS + rows * ROW;
        context.textAlign = 'center';
        context.fillStyle = colours.dim;
        for (let tick = Math.ceil(first / 30) * 30; tick < this.shownHead; tick += 30) {
            const x = this.#x(tick);
            if (x < NAMES + 20) continue;
            context.fillRect(x, y, 1, 5);
            context.fillText(`${tick}`, x, y + 13);
        }
    }

    #drawRewind(rewind, colours) {
        const age = this.shownHead - rewind.head,
            chosen = rewind === this.selected;
        const right = this.#x(rewind.head),
            left = this.#x(rewind.from);
        if (right < 0) return;
        const { context } = this;
        // The deeper, the higher; a rewind of 24 ticks reaches the top.
        const top = Math.max(16, ARCS - 8 - Math.min(1, rewind.ticks / 24) * (ARCS - 26));
        context.globalAlpha = chosen ? 1 : Math.max(0.2, 1 - age / FADE_TICKS);
        context.strokeStyle = context.fillStyle = chosen ? colours.accent : colours.rewind;
        context.lineWidth = chosen ? 3 : 1.5;
        context.beginPath();
        context.moveTo(right, ARCS - 2);
        context.bezierCurveTo(right, top - 6, left, top - 6, left, ARCS - 4);
        context.stroke();
        context.beginPath();
        context.moveTo(left - 4, ARCS - 8);
        context.lineTo(left + 4, ARCS - 8);
        context.lineTo(left, ARCS - 1);
        context.fill();
        if (chosen) {
            context.globalAlpha = 0.25;
            context.fillRect(left, ARCS, right - left, this.height - ARCS - 20);
            context.globalAlpha = 1;
            for (const { player, tick } of rewind.inputs)
                if (this.rowOf.has(player)) context.strokeRect(this.#x(tick), ARCS + this.rowOf.get(player) * ROW, CELL, ROW);
        }
        context.globalAlpha = context.lineWidth = 1;
    }

    /** The rewind whose arc has an end next to the tick below the pointer, and spans it. */
    #rewindAt(event) {
        if (this.past === null) return null;
        const box = this.canvas.getBoundingClientRect(),
            tick = this.shownHead + this.ahead - (this.width - (event.clientX - box.left)) / CELL;
        let best = null;
        for (const rewind of this.past.rewinds) {
            const far = Math.min(Math.abs(rewind.head - tick), Math.abs(rewind.from - tick));
            if (tick > rewind.from - 2 && tick < rewind.head + 2 && (best === null || far <= best.far)) best = { rewind, far };
        }
        return best?.rewind ?? null;
    }
}
