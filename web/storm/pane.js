// Owns one client's pane: its picture, the sliders of its link, and its figures.

import { conditionsOf, LINK_RANGES } from './settings.js';

const SHAPE = 5 / 8; // height of a picture for each pixel of its width

/** An element with these properties and children. */
export function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

export class Pane {
    /** A pane for `seat`, whose link has the values `link`; `onLink` is called after a slider moved. */
    constructor(name, link, onLink) {
        this.name = name;
        this.seat = null;
        this.self = null;
        this.canvas = element('canvas');
        this.canvas.setAttribute('aria-label', `What ${name} sees`);
        this.context = this.canvas.getContext('2d');
        this.state = element('span', { className: 'state' });
        this.figures = element('dl', { className: 'figures' });
        this.values = {};
        for (const [word, title] of FIGURES) {
            this.values[word] = element('dd', { textContent: '-' });
            this.figures.append(element('div', { title }, element('dt', { textContent: word }), this.values[word]));
        }
        this.element = element(
            'section',
            { className: 'pane' },
            element('header', {}, element('h2', { textContent: name }), this.state),
            this.canvas,
            element('div', { className: 'sliders' }, ...Object.keys(LINK_RANGES).map((key) => slider(name, key, link, onLink))),
            this.figures,
        );
    }

    /** Fits the picture to its width on the page. */
    #fit() {
        const width = Math.round(this.canvas.clientWidth * (window.devicePixelRatio || 1));
        if (this.canvas.width === width || width === 0) return;
        this.canvas.width = width;
        this.canvas.height = Math.round(width * SHAPE);
    }

    draw(nowUs, ghosts) {
        this.#fit();
        const drawn = this.seat.client.draw(this.context, { ghosts }, nowUs);
        this.self = drawn?.self ?? null;
        if (drawn === null) this.#wait();
    }

    #wait() {
        const { context, canvas } = this;
        context.fillStyle = '#1b1e2b';
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.fillStyle = '#e8eaf2';
        context.font = `${canvas.width / 30}px system-ui, sans-serif`;
        context.textAlign = 'center';
        context.textBaseline = 'middle';
        context.fillText('connecting…', canvas.width / 2, canvas.height / 2);
    }

    /** Shows the figures of the client now. */
    update() {
        const { client, bot } = this.seat,
            recent = client.recent(),
            stats = client.stats();
        const set = (word, text, bad = false) => {
            if (this.values[word].textContent !== text) this.values[word].textContent = text;
            this.values[word].className = bad ? 'bad' : '';
        };
        const state = client.state === 'playing' ? (bot === null ? 'you play' : 'a bot plays') : client.state;
        if (this.state.textContent !== state) this.state.textContent = state;
        set('round trip', `${Math.round(recent.rttUs / 1000)} ms`);
        set('own key shows after', `${recent.inputDelay} ticks`);
        set('predicts', `${Math.max(0, recent.predictedTicks)} ticks`);
        set('rolls back', `${Math.max(0, recent.rollbackTicks)} ticks`);
        const { hashChecks, hashMismatches, inputsForced } = stats;
        set('inputs refused', `${inputsForced}`, inputsForced > 0);
        set('hashes right', hashMismatches > 0 ? `${hashMismatches} WRONG` : `${hashChecks}`, hashMismatches > 0);
    }
}

const FIGURES = [
    ['round trip', 'From the client to the server and back.'],
    ['own key shows after', 'The input delay: ticks between a key and its effect on the own screen.'],
    ['predicts', 'Ticks that the client shows before it has received them.'],
    ['rolls back', 'Ticks that the client steps again when a snapshot arrives.'],
    ['inputs refused', 'Inputs that came too late: the server played its guess instead.'],
    ['hashes right', 'Worlds of the server that this client computed exactly, bit for bit.'],
];

function slider(name, key, link, onLink) {
    const { label, unit, max, step } = LINK_RANGES[key];
    const shown = element('output'),
        input = element('input', { type: 'range', min: 0, max, step, value: link[key] });
    input.setAttribute('aria-label', `${label} of ${name}`);
    const show = () => {
        shown.textContent = key === 'bandwidth' && link[key] === 0 ? 'no limit' : `${link[key]} ${unit}`;
    };
    input.addEventListener('input', () => {
        link[key] = Number(input.value);
        show();
        onLink();
    });
    show();
    return element('label', {}, element('span', { textContent: label }), input, shown);
}

/** Gives a seat the conditions of a link's values. */
export function applyLink(seat, link, nowUs) {
    seat.setLink(conditionsOf(link), nowUs);
}
