// Owns clients and their bots: hindcast/client.h.

import { Game } from './games.js';
import { HindcastError, NO_PLAYER, SCRATCH, camel, fromTime, time } from './memory.js';
import { Page } from './page.js';

/** A client: hindcast/client.h. */
export class Client {
    #hindcast;
    #memory;
    #exports;
    #pointer;
    #number;
    #painter = 0;
    #waiting = []; // game events that a drawing has taken, for gameEvents

    constructor(hindcast, config, nowUs) {
        const { memory, exports } = hindcast;
        const { game, credential, entropy, log, onRollback, onRollbackEnd, ...members } = config;
        if (!(game instanceof Game))
            throw new HindcastError('clientConfig.game is missing: hindcast.arena, or one of loadGame');
        if (credential === undefined)
            throw new HindcastError('clientConfig.credential is missing: the text or the object of a token');
        this.#hindcast = hindcast;
        this.#memory = memory;
        this.#exports = exports;
        /** The game that it plays. */
        this.game = game;
        const at = memory.struct,
            size = memory.size('client_config');
        exports.hc_client_config_init(at, size);
        memory.write('client_config', at, { ruleHash: game.ruleHash, ...members, game: game.pointer });
        hindcast._putCredential(at + memory.offset('client_config', 'credential'), credential);
        this.#number = hindcast._register({ log, onRollback, onRollbackEnd });
        exports.hc_web_hook(at, this.#number, onRollback !== undefined || onRollbackEnd !== undefined);
        this.#pointer = this.#create(at, entropy, nowUs);
        memory.bytes(at, size).fill(0); // it holds the secret of the token
        if (this.#pointer === 0) {
            hindcast._unregister(this.#number);
            throw new HindcastError('no memory for a client');
        }
    }

    #create(at, entropy, nowUs) {
        const { hc_client_config_check: check, hc_client_create: create } = this.#exports;
        const make = (place) => {
            this.#memory.write('client_config', at, { entropy: place });
            const fault = this.#memory.text(check(at));
            if (fault !== null) throw new HindcastError(`clientConfig.${camel(fault)} is out of its range`);
            return create(at, time(nowUs));
        };
        if (entropy === undefined) return make(0);
        if (entropy.length !== 32)
            throw new HindcastError(`clientConfig.entropy has ${entropy.length} bytes, but must have 32`);
        return this.#memory.with(entropy, make);
    }

    /** Frees the client; nothing of it may be called any more. */
    destroy() {
        this.#exports.hc_web_painter_destroy(this.#painter);
        this.#exports.hc_client_destroy(this.#pointer);
        this.#hindcast._unregister(this.#number);
        this.#pointer = this.#painter = 0;
    }

    receive(bytes, nowUs) {
        if (bytes.length > SCRATCH) return 'malformed';
        this.#memory.bytes(this.#memory.datagram, bytes.length).set(bytes);
        const status = this.#exports.hc_client_receive(
            this.#pointer,
            this.#memory.datagram,
            bytes.length,
            time(nowUs),
        );
        return status === 0 ? 'ok' : this.#hindcast._status(status);
    }

    setInput(index, input) {
        this.game._putInput(this.#memory.struct, input);
        this.#exports.hc_client_set_input(this.#pointer, index, this.#memory.struct);
    }

    /** Sets the input as hindcast-view does, by the names of its fields. */
    control(index, controls) {
        const at = this.#memory.struct,
            input = at + this.#memory.size('cl_controls');
        this.#memory.bytes(at, this.#memory.size('cl_controls')).fill(0);
        this.#memory.write('cl_controls', at, controls, 'controls');
        this.#lastInput ??= new Uint8Array(this.game.inputSize);
        this.#memory.bytes(input, this.game.inputSize).set(this.#lastInput);
        this.#exports.hc_cl_controls_apply(this.game.pointer, at, input);
        this.#lastInput = this.#memory.copy(input, this.game.inputSize);
        this.#exports.hc_client_set_input(this.#pointer, index, input);
    }
    #lastInput = null;

    setTiming(timing) {
        this.#memory.bytes(this.#memory.struct, this.#memory.size('client_timing')).fill(0);
        this.#memory.write('client_timing', this.#memory.struct, timing);
        return this.#hindcast._status(this.#exports.hc_client_set_timing(this.#pointer, this.#memory.struct));
    }

    setDisplay(display, nowUs) {
        this.#memory.bytes(this.#memory.struct, this.#memory.size('client_display')).fill(0);
        this.#memory.write('client_display', this.#memory.struct, display);
        return this.#hindcast._status(
            this.#exports.hc_client_set_display(this.#pointer, this.#memory.struct, time(nowUs)),
        );
    }

    advance(nowUs) {
        this.#exports.hc_client_advance(this.#pointer, time(nowUs));
    }

    /** The next due datagram, a copy; null: none is due. */
    send(nowUs) {
        const size = this.#exports.hc_client_send(this.#pointer, this.#memory.datagram, time(nowUs));
        return size === 0 ? null : this.#memory.copy(this.#memory.datagram, size);
    }

    deadline() {
        return fromTime(BigInt.asUintN(64, this.#exports.hc_client_deadline(this.#pointer)));
    }

    /** The events since the last call. */
    *events() {
        while (this.#exports.hc_client_poll_event(this.#pointer, this.#memory.struct)) {
            const event = this.#memory.read('client_event', this.#memory.struct);
            event.notice = event.notice === 0 ? null : this.#notice(event.notice);
            yield event;
        }
    }

    #notice(at) {
        const notice = this.#memory.read('notice', at);
        return { ...notice, line: this.#memory.text(this.#exports.hc_notice_line(at, this.#memory.struct)) };
    }

    /** The game events that are to be shown at `nowUs`, since the last call. */
    gameEvents(nowUs) {
        this.#takeGameEvents(nowUs);
        return this.#waiting.splice(0);
    }

    #takeGameEvents(nowUs) {
        const at = this.#memory.struct,
            now = time(nowUs);
        while (this.#exports.hc_client_next_game_event(this.#pointer, now, at)) {
            if (this.#painter !== 0) this.#exports.hc_web_painter_note(this.#painter, at, now);
            const event = this.#memory.read('client_game_event', at);
            event.kind = this.game.eventKinds[event.kind];
            this.#waiting.push(event);
        }
        if (this.#waiting.length > 1024) this.#waiting.splice(0, this.#waiting.length - 1024);
    }

    sendMessage(bytes) {
        return this.#hindcast._status(
            this.#memory.with(bytes, (at, size) => this.#exports.hc_client_send_message(this.#pointer, at, size)),
        );
    }

    sendUnreliable(bytes) {
        return this.#hindcast._status(
            this.#memory.with(bytes, (at, size) => this.#exports.hc_client_send_unreliable(this.#pointer, at, size)),
        );
    }

    nextMessage() {
        return this.#message(this.#exports.hc_client_next_message);
    }
    nextUnreliable() {
        return this.#message(this.#exports.hc_client_next_unreliable);
    }

    #message(next) {
        const at = next(this.#pointer, this.#memory.struct);
        return at === 0 ? null : this.#memory.copy(at, this.#memory.u32(this.#memory.struct));
    }

    leave(nowUs) {
        this.#exports.hc_client_leave(this.#pointer, time(nowUs));
    }

    get state() {
        return this.#memory.word('clientState', this.#exports.hc_client_state(this.#pointer));
    }

    attempt() {
        this.#exports.hc_client_attempt(this.#memory.struct, this.#pointer);
        return this.#memory.read('client_attempt', this.#memory.struct);
    }

    /** The world, as the server described it; null before the event `accepted`. */
    get world() {
        const at = this.#exports.hc_client_world(this.#pointer);
        return at === 0 ? null : this.#memory.read('world', at);
    }

    /** The world's player that local player `index` plays; null before the event `accepted`. */
    player(index = 0) {
        const player = this.#exports.hc_client_player(this.#pointer, index);
        return player === NO_PLAYER ? null : player;
    }

    playerName(player) {
        return this.#memory.text(this.#exports.hc_client_player_name(this.#pointer, player));
    }

    /** The newest snapshot's tick, and the server's head when it was sent; null before the first. */
    snapshot() {
        return this.#two(this.#exports.hc_client_snapshot, ['tick', 'asOf']);
    }

    #two(read, [first, second]) {
        const at = this.#memory.struct;
        if (!read(this.#pointer, at, at + 4)) return null;
        return { [first]: this.#memory.u32(at), [second]: this.#memory.u32(at + 4) };
    }

    /** The server's final tick, and the chained hash of all ticks up to it; null before the first. */
    final() {
        const at = this.#memory.struct;
        if (!this.#exports.hc_client_final(this.#pointer, at, at + 8)) return null;
        return { tick: this.#memory.u32(at), chain: this.#memory.view.getBigUint64(at + 8, true) };
    }

    /** The tick at which an entity, or the own players, are shown, with its fraction; null before the first state. */
    showTick(nowUs, entity) {
        const at = this.#memory.struct,
            now = time(nowUs);
        const known =
            entity === undefined
                ? this.#exports.hc_client_show_tick(this.#pointer, now, at, at + 4)
                : this.#exports.hc_client_show_tick_of(this.#pointer, now, entity, at, at + 4);
        return known ? this.#memory.u32(at) + this.#memory.u32(at + 4) / 65536 : null;
    }

    /** The predicted tick; null before the first state. */
    head() {
        const timeline = this.#exports.hc_client_timeline(this.#pointer);
        return timeline === 0 || !this.#exports.hc_timeline_started(timeline)
            ? null
            : this.#exports.hc_timeline_head(timeline) >>> 0;
    }

    /** An entity as it is drawn; null: it is not visible. */
    show(nowUs, entity) {
        return this.#exports.hc_client_show(this.#pointer, time(nowUs), entity, this.#memory.struct)
            ? this.#shown()
            : null;
    }

    /** All visible entities as they are drawn, ascending. */
    shown(nowUs) {
        const at = this.#memory.struct,
            next = this.#memory.datagram,
            now = time(nowUs),
            all = [];
        this.#memory.view.setUint16(next, 0, true);
        while (this.#exports.hc_client_show_next(this.#pointer, now, next, at)) all.push(this.#shown());
        return all;
    }

    #shown() {
        const { view } = this.#memory,
            at = this.#memory.struct,
            members = this.#memory.layout('client_shown').byKey;
        const kind = this.game.kinds[view.getUint8(at + members.get('kind').offset)];
        const owner = view.getUint16(at + members.get('owner').offset, true);
        const values = {},
            from = at + members.get('values').offset;
        kind.fields.forEach(({ name }, i) => (values[camel(name)] = view.getFloat64(from + 8 * i, true)));
        return {
            entity: view.getUint16(at + members.get('entity').offset, true),
            owner: owner === NO_PLAYER ? null : owner,
            kind: kind.name,
            values,
        };
    }

    /** The entities that became visible or ceased to be since the call before. */
    *visibleChanges(nowUs) {
        const now = time(nowUs);
        while (this.#exports.hc_client_poll_visible(this.#pointer, now, this.#memory.struct)) {
            const change = this.#memory.read('client_visible', this.#memory.struct);
            yield {
                ...change,
                owner: change.owner === NO_PLAYER ? null : change.owner,
                kind: this.game.kinds[change.kind].name,
            };
        }
    }

    recent() {
        this.#memory.bytes(this.#memory.struct, this.#memory.size('client_recent')).fill(0);
        this.#exports.hc_client_recent(this.#pointer, this.#memory.struct);
        return this.#memory.read('client_recent', this.#memory.struct);
    }

    stats() {
        return this.#memory.read('client_stats', this.#exports.hc_client_stats(this.#pointer));
    }

    /** Draws the world on a 2D context, by the game's drawing. */
    draw(context, options, nowUs) {
        const { exports } = this.#hindcast,
            memory = this.#memory;
        if (this.#painter === 0) this.#painter = exports.hc_web_painter_create(this.#pointer, this.game.drawing);
        if (this.#painter === 0) throw new HindcastError('no memory for a drawing');
        this.#takeGameEvents(nowUs);
        const {
            x = 0,
            y = 0,
            width = context.canvas.width,
            height = context.canvas.height,
            ghosts = false,
        } = options ?? {};
        memory.write('web_place', memory.struct, { width, height, ghosts });
        const page = new Page(context, x, y, width, height);
        const drawn = this.#hindcast._drawing(page, () =>
            exports.hc_web_painter_draw(this.#painter, memory.struct, time(nowUs)),
        );
        page.end();
        if (!drawn) return null;
        const { area, scale, self, selfX, selfY } = memory.read('web_place', memory.struct);
        const pixel = { x: x + (selfX - area.left) * scale, y: y + (selfY - area.top) * scale };
        return { area, scale, self: self ? pixel : null };
    }

    _pointer() {
        return this.#pointer;
    }
}

/** A bot that plays a client: the game's, or random inputs. */
export class Bot {
    #exports;
    #pointer;

    constructor(hindcast, game, seed = 0, number = 0) {
        this.#exports = hindcast.exports;
        this.#pointer = this.#exports.hc_web_bot_create(game.think, BigInt(seed), number);
        if (this.#pointer === 0) throw new HindcastError('no memory for a bot');
    }

    /** Chooses the input of the client's first player, once for each tick; call it before each advance. */
    play(client) {
        this.#exports.hc_web_bot_play(this.#pointer, client._pointer());
    }

    destroy() {
        this.#exports.hc_web_bot_destroy(this.#pointer);
        this.#pointer = 0;
    }
}
