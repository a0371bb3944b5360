// Owns the canvas of a page, on which drawings draw.

/** A part of a canvas that a drawing fills. */
export class Page {
    constructor(context, x, y, width, height) {
        Object.assign(this, { context, width, height, ghosts: false });
        context.save();
        context.beginPath();
        context.rect(x, y, width, height);
        context.clip();
        context.translate(x, y);
        context.textAlign = 'center';
        context.textBaseline = 'middle';
        context.lineWidth = 2;
    }

    begin(left, top, scale, backdrop) {
        Object.assign(this, { left, top, scale });
        this.context.fillStyle = css(backdrop);
        this.context.fillRect(0, 0, this.width, this.height);
    }

    // Whole pixels, so that neighbours neither overlap nor leave a gap.
    rectangle(x, y, width, height, colour) {
        const left = Math.round((x - width / 2 - this.left) * this.scale),
            top = Math.round((y - height / 2 - this.top) * this.scale);
        const across = Math.max(1, Math.round((x + width / 2 - this.left) * this.scale) - left);
        const down = Math.max(1, Math.round((y + height / 2 - this.top) * this.scale) - top);
        if (!this.ghosts) {
            this.context.fillStyle = css(colour);
            this.context.fillRect(left, top, across, down);
        } else {
            this.context.strokeStyle = css(ghostOf(colour));
            this.context.strokeRect(left + 1, top + 1, Math.max(0, across - 2), Math.max(0, down - 2));
        }
    }

    disc(x, y, radius, colour) {
        this.context.beginPath();
        this.context.arc(
            (x - this.left) * this.scale,
            (y - this.top) * this.scale,
            Math.max(0, radius * this.scale - (this.ghosts ? 1 : 0)),
            0,
            2 * Math.PI,
        );
        if (!this.ghosts) {
            this.context.fillStyle = css(colour);
            this.context.fill();
        } else {
            this.context.strokeStyle = css(ghostOf(colour));
            this.context.stroke();
        }
    }

    text(x, y, height, text, colour) {
        if (this.ghosts) return;
        this.context.font = `${Math.max(1, height * this.scale)}px system-ui, sans-serif`;
        this.context.fillStyle = css(colour);
        this.context.fillText(text, (x - this.left) * this.scale, (y - this.top) * this.scale);
    }

    end() {
        this.context.restore();
    }
}

export const colours = new Map();

/** 0xRRGGBBAA as CSS writes it. */
export function css(colour) {
    let text = colours.get(colour);
    if (text === undefined) {
        text = `#${(colour >>> 0).toString(16).padStart(8, '0')}`;
        if (colours.size < 4096) colours.set(colour, text);
    }
    return text;
}

/** The colour of a ghost's outline: lighter than the shape. */
export function ghostOf(colour) {
    const light = (shift) => ((((colour >>> shift) & 0xff) + 255) >> 1) << shift;
    return (light(24) | light(16) | light(8) | Math.floor(((colour & 0xff) * 190) / 255)) >>> 0;
}
