// Owns one client's pane: its picture, the sliders of its link, and its figures.

import { plural } from './past.js';
import { conditionsOf, LINK_RANGES } from './settings.js';

const SHAPE = 5 / 8; // height of a picture for each pixel of its width
const RECENT_TICKS = 300; // figures are of the last 5 s
const WRONG_PX = 2; // a place is wrong if it is farther off

/** An element with these properties and children. */
export function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

export class Pane {
    /** A pane for a client, which a person may play, with the values `link`; `onLink` is called after a slider moved. */
    constructor(name, link, person, onLink) {
        this.name = name;
        this.person = person;
        this.seat = null;
        this.self = null;
        this.canvas = element('canvas');
        this.canvas.setAttribute('aria-label', `What ${name} sees`);
        this.context = this.canvas.getContext('2d');
        this.scale = 0; // pixels of a unit of the game
        this.samples = []; // { time, x, y }: where the own player was shown, to be judged
        this.wrong = []; // distances of the last 5 s to where it really was
        this.state = element('span', { className: 'state' });
        this.back = element('button', { textContent: 'let the bot play', hidden: true });
        this.figures = element('dl', { className: 'figures' });
        this.values = {};
        for (const [word, title] of FIGURES) {
            this.values[word] = element('dd', { textContent: '-' });
            this.figures.append(element('div', { title }, element('dt', { textContent: word }), this.values[word]));
        }
        this.element = element(
            'section',
            { className: 'pane' },
            element('header', {}, element('h2', { textContent: name }), this.state, ...(person ? [this.back] : [])),
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
        this.scale = drawn?.scale ?? 0;
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

    /** Notes where the own player is shown, and judges older notes by where it really was. */
    sample(past, nowUs) {
        const { client } = this.seat,
            player = client.player(0),
            time = client.showTick(nowUs);
        if (player === null || time === null || client.state !== 'playing') return;
        this.entity ??= client.shown(nowUs).find(({ owner, values }) => owner === player && 'x' in values)?.entity;
        const shown = this.entity === undefined ? null : client.show(nowUs, this.entity);
        if (shown !== null) this.samples.push({ time, x: shown.values.x, y: shown.values.y });
        while (this.samples.length > 0 && this.samples[0].time + 1 <= past.judged - 1) {
            const { time, x, y } = this.samples.shift(),
                place = past.place(player, time);
            if (place !== null) this.wrong.push(Math.hypot(place.x - x, place.y - y));
        }
        if (this.wrong.length > RECENT_TICKS) this.wrong.splice(0, this.wrong.length - RECENT_TICKS);
    }

    /** In what share of the last 5 s the own player was drawn in a wrong place, in [0, 1]; null: not known. */
    wrongShare() {
        if (this.wrong.length === 0) return null;
        const bound = (WRONG_PX * (window.devicePixelRatio || 1)) / this.scale;
        return this.wrong.filter((distance) => distance > bound).length / this.wrong.length;
    }

    /** Shows the figures of the client now. */
    update(past) {
        const { client, bot } = this.seat,
            recent = client.recent(),
            stats = client.stats();
        const set = (word, text, bad = false) => {
            if (this.values[word].textContent !== text) this.values[word].textContent = text;
            this.values[word].className = bad ? 'bad' : '';
        };
        const plays = bot === null ? 'you play' : this.person ? 'a bot plays: press a key, or click' : 'a bot plays';
        const state = client.state === 'playing' ? plays : client.state;
        if (this.state.textContent !== state) this.state.textContent = state;
        this.back.hidden = bot !== null;
        const player = client.player(0),
            wrong = this.wrongShare(),
            refused = player === null ? 0 : past.refused(player, RECENT_TICKS);
        set('round trip', recent.rttUs > 0 ? `${Math.round(recent.rttUs / 1000)} ms` : '-');
        set('own key shows after', plural(recent.inputDelay, 'tick'));
        set('shown before it is known', plural(Math.max(0, Math.round(recent.predictedTicks)), 'tick'));
        set('own place wrong', wrong === null ? '-' : `${Math.round(100 * wrong)} % of the time`, wrong > 0.15);
        set('inputs refused', `${refused} of 300`, refused > 0);
        const { hashChecks, hashMismatches } = stats;
        set('exact worlds', hashMismatches > 0 ? `${hashMismatches} WRONG` : `${hashChecks}`, hashMismatches > 0);
    }
}

const FIGURES = [
    ['round trip', 'From the client to the server and back.'],
    ['own key shows after', 'A delay that the client adds on purpose, so that fewer inputs are late: its timing.'],
    ['shown before it is known', 'Ticks that the client plays by its own guess, before the server has told them.'],
    ['own place wrong', 'How often in the last 5 s the own player was drawn where it was not in the end, by more than 2 pixels.'],
    ['inputs refused', 'Of the last 5 s: they came too late or never, and the guess of the server stays.'],
    ['exact worlds', 'Worlds of the server that this client has computed too, equal bit for bit.'],
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
