// Owns the page: it loads the modules, plays a match, and draws it once a frame.

import { Lane } from './lane.js';
import { applyLink, element, Pane } from './pane.js';
import { Past, plural } from './past.js';
import { Person } from './person.js';
import { CLIENTS_MAX, CLIENTS_MIN, conditionsOf, defaults, OTHERS, parseSettings, settingsText, TIMINGS } from './settings.js';

const FRAME_MAX_US = 250000, // of play in one frame, after the page was hidden, say
    TICK_US = 1e6 / 60;
const YOU = 'You';
const TIMING_TEXTS = ['keys act at once', 'balanced', 'clients run ahead'],
    OTHERS_TEXTS = ['as the game says', 'guessed up to now', 'as received, in the past'];
const FIGURES_EACH_MS = 200;
const IDLE_US = 30e6; // after so long without a key a bot plays again

const find = (id) => document.getElementById(id);

/** A part of this file: bytes that were compressed by gzip and written in base64. */
async function unpack(part) {
    const bytes = Uint8Array.from(atob(part.textContent.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Storm {
    constructor(hindcast, games) {
        this.hindcast = hindcast;
        this.games = games;
        this.names = Object.keys(games);
        this.settings = this.#parse();
        this.playing = true;
        this.speed = 1;
        this.busyMs = 0;
        this.lane = new Lane(find('lane'), () => this.showSelected());
        this.person = null;
        this.#connectControls();
        for (const id of ['try', 'more']) find(id).open = innerWidth > 900;
        this.restart();
        this.before = performance.now();
        this.figuresAt = 0;
        requestAnimationFrame((now) => this.#frame(now));
    }

    #parse() {
        return parseSettings(location.hash, this.names);
    }

    // ---- The match ------------------------------------------------------------------------------

    /** Plays the match of the settings from its beginning. */
    restart() {
        this.match?.destroy();
        const { settings, hindcast } = this,
            game = this.games[settings.game];
        settings.clients = Math.min(settings.clients, game.playersMax);
        for (const option of find('clients').options) option.disabled = Number(option.value) > game.playersMax;
        history.replaceState(null, '', settingsText(settings));
        const server = { clients: settings.clients };
        if (!settings.rewind) server.history = 0;
        this.match = hindcast.createMatch({ game, seed: settings.seed, server });
        this.playedUs = 0; // until then the person has played
        this.#makePanes();
        this.past = new Past(this.match.server, this.match.server.world.players);
        this.lane.selected = null;
        this.#showSettings();
        this.#run(0);
    }

    #makePanes() {
        const { settings, match } = this;
        const client = {
            ...this.hindcast.timingPreset(settings.timing),
            others: settings.others,
        };
        find('panes').replaceChildren();
        this.panes = [];
        for (let i = 0; i < settings.clients; i++) {
            const name = i === 0 ? YOU : `Bot ${i}`,
                link = settings.links[i];
            const pane = new Pane(name, link, i === 0, () => {
                applyLink(pane.seat, link, this.match.nowUs);
                history.replaceState(null, '', settingsText(settings));
            });
            pane.seat = match.add({ name, link: conditionsOf(link), client });
            this.panes.push(pane);
            find('panes').append(pane.element);
        }
        find('panes').classList.toggle('many', settings.clients > 4);
        this.bot = this.panes[0].seat.bot;
        this.panes[0].back.addEventListener('click', () => (this.panes[0].seat.bot = this.bot));
        if (this.person === null) this.person = new Person(this.panes[0].canvas, () => this.#takeOver());
        else this.person.listen(this.panes[0].canvas);
        this.person.release();
        this.person.aiming = null;
    }

    /** The person plays the first client from now on. */
    #takeOver() {
        this.panes[0].seat.bot = null;
        this.playedUs = this.match.nowUs + IDLE_US;
    }

    /** Runs the match for `us`. */
    #run(us) {
        const { match } = this,
            first = this.panes[0],
            begun = performance.now();
        if (first.seat.bot === null && match.nowUs > this.playedUs) first.seat.bot = this.bot;
        if (first.seat.bot === null) first.seat.client.control(0, this.person.controls(first.self));
        this.#advance(match.nowUs + us);
        const took = performance.now() - begun;
        if (us > 0) this.busyMs += (took / (us / TICK_US) - this.busyMs) / 60;
    }

    /** Advances the match, and looks before and after each tick of the server how inputs arrived. */
    #advance(untilUs) {
        const { match, past } = this;
        for (;;) {
            const nextUs = match.server.deadline();
            match.advance(Math.min(untilUs, nextUs - 1));
            for (const pane of this.panes)
                for (const event of pane.seat.client.events()) this.#note(pane, event);
            past.update();
            for (const pane of this.panes) pane.sample(past, match.nowUs);
            if (untilUs < nextUs) return;
            match.advance(nextUs);
        }
    }

    #note(pane, event) {
        const { client } = pane.seat;
        if (event.kind === 'playing') this.past.join(client.player(0), client.head());
        if (['denied', 'version', 'closed', 'timeout', 'desync'].includes(event.kind))
            find('story').textContent = `${pane.name}: ${event.kind}`;
    }

    // ---- A frame --------------------------------------------------------------------------------

    #frame(now) {
        const us = Math.min(FRAME_MAX_US, (now - this.before) * 1000);
        this.before = now;
        if (this.playing) this.#run(us * this.speed);
        this.#draw(now);
        requestAnimationFrame((later) => this.#frame(later));
    }

    #draw(now) {
        const ghosts = find('ghosts').checked;
        for (const pane of this.panes) pane.draw(this.match.nowUs, ghosts);
        this.lane.draw(this.past, this.#rows(), this.colours);
        if (now - this.figuresAt < FIGURES_EACH_MS) return;
        this.figuresAt = now;
        for (const pane of this.panes) pane.update(this.past);
        this.#showTotals();
        if (this.lane.selected === null) this.showSelected();
    }

    /** The rows of the lane: the players in the order of the pictures. */
    #rows() {
        return this.panes
            .map(({ seat, name }) => ({ player: seat.client.player(0), name }))
            .filter(({ player }) => player !== null);
    }

    // ---- Words and figures ----------------------------------------------------------------------

    /** Tells of the rewind that was chosen in the lane, or of the newest one. */
    showSelected() {
        const rewind = this.lane.selected ?? this.past.rewinds.at(-1);
        const names = new Map(this.#rows().map(({ player, name }) => [player, name === YOU ? 'Your' : `${name}'s`]));
        let text = 'No input was late yet.';
        if (!this.settings.rewind) text = 'The server does not rewind: it refuses inputs that come late, and plays a guess instead.';
        else if (rewind !== undefined) text = this.past.describe(rewind, (player) => names.get(player) ?? `Player ${player}'s`);
        if (find('story').textContent !== text) find('story').textContent = text;
    }

    #showTotals() {
        const { server } = this.match,
            stats = server.stats(),
            { totals } = this.past;
        const sum = (counter) => this.panes.reduce((all, { seat }) => all + seat.client.stats()[counter], 0);
        const refused = this.#rows().reduce((all, { player }) => all + this.past.refused(player, 300), 0);
        const saved = totals.all > 0 ? Math.round(100 - (100 * totals.steps) / totals.all) : 0;
        const wrong = sum('hashMismatches');
        const lines = {
            tick: `${server.head()}`,
            rewinds: `${totals.rewinds}`,
            again: totals.all > 0 ? `${totals.steps.toLocaleString('en')} entity steps of ${totals.all.toLocaleString('en')}: ${saved} % saved` : '-',
            late: `${stats.inputsLate} late of ${stats.inputsReceived}`,
            refused: `${refused} in the last 5 s`,
            hashes: wrong > 0 ? `${wrong} WRONG` : `${sum('hashChecks').toLocaleString('en')} equal bit for bit, 0 different`,
            sent: `${Math.round((stats.bytesOut * 8) / 1000 / Math.max(1, this.match.nowUs / 1e6) / this.panes.length)} kbit/s to each client`,
            cost: `${this.busyMs.toFixed(2)} ms for server and clients`,
        };
        for (const [id, text] of Object.entries(lines)) {
            const shown = find(`total-${id}`);
            if (shown.textContent !== text) shown.textContent = text;
        }
    }

    // ---- Controls -------------------------------------------------------------------------------

    #connectControls() {
        const options = (id, words, texts = words) =>
            find(id).append(...words.map((word, i) => element('option', { value: word, textContent: texts[i] })));
        options('game', this.names);
        options('timing', TIMINGS, TIMING_TEXTS);
        options('others', OTHERS, OTHERS_TEXTS);
        options('clients', Array.from({ length: CLIENTS_MAX - CLIENTS_MIN + 1 }, (_, i) => `${CLIENTS_MIN + i}`));
        find('play').addEventListener('click', () => this.#setPlaying(!this.playing));
        find('step').addEventListener('click', () => {
            this.#setPlaying(false);
            this.#run(TICK_US);
        });
        find('speed').addEventListener('change', () => (this.speed = Number(find('speed').value)));
        for (const id of ['game', 'clients', 'rewind', 'seed'])
            find(id).addEventListener('change', () => {
                this.#readSettings();
                this.restart();
            });
        for (const id of ['timing', 'others']) find(id).addEventListener('change', () => this.#change());
        find('restart').addEventListener('click', () => this.restart());
        find('defaults').addEventListener('click', () => {
            this.settings = defaults(this.names);
            this.restart();
        });
        // Keys are the game's again after a click or a choice; somebody who walks by Tab keeps the place.
        find('main').addEventListener('pointerup', ({ target }) =>
            setTimeout(() => target.matches('button, input[type=range], input[type=checkbox]') && target.blur()),
        );
        find('main').addEventListener('change', (event) => event.target.matches('select') && event.target.blur());
        window.addEventListener('keydown', (event) => event.code === 'Escape' && this.lane.select(null));
        window.addEventListener('hashchange', () => {
            this.settings = this.#parse();
            this.restart();
        });
        const dark = matchMedia('(prefers-color-scheme: dark)');
        dark.addEventListener('change', () => this.#readColours());
        this.#readColours();
    }

    #setPlaying(playing) {
        this.playing = playing;
        if (playing) this.lane.select(null);
        find('play').textContent = playing ? 'Pause' : 'Play';
    }

    /** Gives the clients that play their new timing and display. */
    #change() {
        this.#readSettings();
        const { settings, match } = this;
        for (const { seat } of this.panes) {
            seat.client.setTiming(this.hindcast.timingPreset(settings.timing));
            seat.client.setDisplay({ offset: 0, others: settings.others }, match.nowUs);
        }
        history.replaceState(null, '', settingsText(settings));
    }

    #readSettings() {
        const { settings } = this;
        for (const id of ['game', 'timing', 'others']) settings[id] = find(id).value;
        settings.clients = Number(find('clients').value);
        settings.rewind = find('rewind').checked;
        const seed = Number(find('seed').value);
        if (Number.isInteger(seed) && seed >= 0 && seed <= 0xffffffff) settings.seed = seed;
    }

    #showSettings() {
        const { settings } = this;
        for (const id of ['game', 'timing', 'others', 'clients', 'seed']) find(id).value = settings[id];
        find('rewind').checked = settings.rewind;
    }

    #readColours() {
        const style = getComputedStyle(document.documentElement);
        const names = { text: 'text', dim: 'dim', line: 'line', soft: 'soft', paper: 'paper', accent: 'accent' };
        Object.assign(names, { inTime: 'in-time', guessed: 'guessed', late: 'late', refused: 'refused', rewind: 'rewind' });
        this.colours = {};
        for (const [key, name] of Object.entries(names)) this.colours[key] = style.getPropertyValue(`--${name}`).trim();
    }
}

/** The games of this file by their names. The arena is in the module of the match. */
async function loadGames(hindcast) {
    const games = {};
    for (const part of document.querySelectorAll('[data-game]')) {
        const name = part.dataset.game,
            level = document.querySelector(`[data-level="${name}"]`);
        games[name] =
            part.textContent === ''
                ? hindcast.arena
                : await hindcast.loadGame(await unpack(part), { level: level ? await unpack(level) : undefined });
    }
    return games;
}

async function begin() {
    const hindcast = await load(await unpack(find('hindcast-match')));
    return new Storm(hindcast, await loadGames(hindcast));
}

begin().then(
    (storm) => (window.storm = storm),
    (error) => (find('story').textContent = `This page cannot play here: ${error.message}`),
);
