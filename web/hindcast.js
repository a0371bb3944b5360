// Hindcast for pages: the client library, and for a match in one page also the server and links.
//
// The functions are those of the C headers hindcast/client.h, server.h and network_sim.h, without their
// prefix; names of members are theirs in camel case. hindcast.d.ts has all types and says which function
// of C each method is. Times are microseconds of one clock of the caller, as numbers: in a page,
// performance.now() * 1000.

import { Bot, Client } from './client.js';
import { Game, compile, loadSide } from './games.js';
import { HindcastError, Memory, toUtf8, utf8 } from './memory.js';
import { Match } from './match.js';
import { NetworkSim, Server } from './server.js';

export { Bot, Client, Game, HindcastError, Match, NetworkSim, Server };

/** Loads the module: a URL, a Response, bytes, or a WebAssembly.Module. */
export async function load(source, options = {}) {
    const module = await compile(source);
    const hindcast = new Hindcast(options);
    await hindcast._begin(module);
    return hindcast;
}

/** A loaded module. */
export class Hindcast {
    #random;
    #log;
    #errorText = '';
    #clients = new Map();
    #nextClient = 1;
    #page = null;

    constructor(options) {
        this.#random = options.random ?? ((bytes) => crypto.getRandomValues(bytes));
        this.#log = options.log ?? null;
    }

    async _begin(module) {
        const instance = await WebAssembly.instantiate(module, this.#imports());
        this.exports = instance.exports;
        this.exports._initialize();
        this.memory = new Memory(this.exports);
        /** Whether the module has the server too. */
        this.hasServer = this.exports.hc_server_create !== undefined;
        /** The bundled game. */
        this.arena = new Game(this, this.exports.hc_web_arena(), this.exports.hc_web_arena_drawing());
    }

    #imports() {
        const text = (at) => this.memory.text(at);
        return {
            wasi_snapshot_preview1: {
                random_get: (at, size) => {
                    for (let from = 0; from < size; from += 65536)
                        this.#fillRandom(at + from, Math.min(65536, size - from));
                    return 0;
                },
                fd_write: (file, parts, count, written) => this.#write(parts, count, written),
                fd_seek: () => 8, // there are no files
                fd_close: () => 8,
            },
            hindcast: {
                log: (number, line) => {
                    const log = this.#clients.get(number)?.log ?? this.#log;
                    if (log) log(text(line));
                },
                rollback: (number, first, ended) => {
                    const calls = this.#clients.get(number);
                    const call = ended ? calls?.onRollbackEnd : calls?.onRollback;
                    if (call) call(first >>> 0);
                },
            },
            math: { acos: Math.acos, atan2: Math.atan2, cos: Math.cos, hypot: Math.hypot, sin: Math.sin },
            canvas: {
                begin: (...place) => this.#page.begin(...place),
                ghosts: (on) => (this.#page.ghosts = on !== 0),
                rectangle: (...shape) => this.#page.rectangle(...shape),
                disc: (...shape) => this.#page.disc(...shape),
                text: (x, y, height, at, colour) => this.#page.text(x, y, height, text(at), colour),
            },
        };
    }

    // Shared memory of another kind is not taken by crypto.getRandomValues, so the bytes are copied.
    #fillRandom(at, size) {
        const bytes = new Uint8Array(size);
        this.#random(bytes);
        new Uint8Array(this.exports.memory.buffer, at, size).set(bytes);
    }

    /** A failed assertion writes its sentence, and then ends the module: it becomes an exception. */
    #write(parts, count, written) {
        const view = new DataView(this.exports.memory.buffer);
        let total = 0;
        for (let i = 0; i < count; i++) {
            const at = view.getUint32(parts + 8 * i, true),
                size = view.getUint32(parts + 8 * i + 4, true);
            this.#errorText += utf8.decode(new Uint8Array(this.exports.memory.buffer, at, size).slice());
            total += size;
        }
        view.setUint32(written, total, true);
        if (!this.#errorText.endsWith('\n')) return 0;
        const text = this.#errorText.trimEnd();
        this.#errorText = '';
        throw new HindcastError(text);
    }

    /** Gives a client's callbacks a number; returns it. */
    _register(calls) {
        this.#clients.set(this.#nextClient, calls);
        return this.#nextClient++;
    }

    _unregister(number) {
        this.#clients.delete(number);
    }

    /** Draws with `page` as the canvas. */
    _drawing(page, draw) {
        this.#page = page;
        try {
            return draw();
        } finally {
            this.#page = null;
        }
    }

    /** A game that was compiled as a side module, with its drawing if it exports one. */
    async loadGame(source, options = {}) {
        const side = await loadSide(this, await compile(source));
        const found = side.address('hindcast_game');
        if (found === undefined)
            throw new HindcastError(
                'the module exports no hindcast_game, which HC_GAME_EXPORT of hindcast/plugin.h defines',
            );
        const why = this.memory.text(this.exports.hc_web_game_check(found));
        if (why !== null) throw new HindcastError(`the game cannot be used: ${why}`);
        let drawing = side.address('hindcast_drawing');
        if (drawing === undefined && options.drawing !== undefined)
            drawing = (await loadSide(this, await compile(options.drawing))).address('hindcast_drawing');
        const game = new Game(this, found, drawing ?? 0, options.level);
        if (drawing) {
            const fault = this.memory.text(this.exports.hc_web_drawing_check(drawing, game.pointer));
            if (fault !== null) throw new HindcastError(`the drawing cannot be used: ${fault}`);
        }
        return game;
    }

    createClient(config, nowUs) {
        return new Client(this, config, nowUs);
    }
    createBot(game, seed, number) {
        return new Bot(this, game, seed, number);
    }

    createServer(config, unixUs, nowUs) {
        if (!this.hasServer) throw new HindcastError('this module has no server: load hindcast-match.wasm');
        return new Server(this, config, unixUs, nowUs);
    }

    createMatch(options, nowUs) {
        if (!this.hasServer) throw new HindcastError('this module has no server: load hindcast-match.wasm');
        return new Match(this, options, nowUs);
    }

    createNetworkSim(conditions, seed = 0, packetsMax = 1024) {
        return new NetworkSim(this, conditions, seed, packetsMax);
    }

    /** The conditions of a preset: good, ok, bad or awful. */
    networkPreset(name) {
        const { memory } = this;
        const known = memory.with(toUtf8.encode(`${name}\0`), (at) =>
            this.exports.hc_network_sim_preset(at, memory.struct),
        );
        if (!known) throw new HindcastError(`there is no preset '${name}' of links: good, ok, bad or awful`);
        return memory.read('network_sim_config', memory.struct);
    }

    /** The input delay and lead of a preset: rewind, balanced or ahead. */
    timingPreset(name) {
        const { memory } = this;
        const known = memory.with(toUtf8.encode(`${name}\0`), (at) =>
            this.exports.hc_client_timing_preset(at, memory.struct),
        );
        if (!known) throw new HindcastError(`there is no preset '${name}' of timing: rewind, balanced or ahead`);
        return memory.read('client_timing', memory.struct);
    }

    denyWord(reason) {
        return this.memory.text(this.exports.hc_deny_word(reason));
    }
    denyText(reason) {
        return this.memory.text(this.exports.hc_deny_text(reason));
    }
    closeText(reason) {
        return this.memory.text(this.exports.hc_close_text(reason));
    }

    /** A status of C as a word: 'ok', or the cause. */
    _status(status) {
        return this.memory.text(this.exports.hc_status_text(status));
    }

    /** Copies a credential, text or object, to `at`. */
    _putCredential(at, credential) {
        if (typeof credential !== 'string') {
            this.memory.write('credential', at, credential);
            return;
        }
        const bytes = toUtf8.encode(credential);
        const status = this.memory.with(bytes, (text, size) => this.exports.hc_token_read_credential(text, size, at));
        if (status !== 0) throw new HindcastError(`the credential is ${this._status(status)}`);
    }
}
