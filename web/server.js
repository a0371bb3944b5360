// Owns servers and links, which hindcast-match.wasm has: hindcast/server.h, network_sim.h, rewind.h.

import { Game } from './games.js';
import { HindcastError, NO_PLAYER, SCRATCH, camel, fromTime, readFields, show, time } from './memory.js';

const ALIVE = 2; // of enum hc_presence

/** A server, of hindcast-match.wasm: hindcast/server.h. */
export class Server {
    #hindcast;
    #memory;
    #exports;
    #pointer;
    #rewinds = 0;
    #nextRewind = 0;

    constructor(hindcast, config, unixUs, nowUs) {
        const { memory, exports } = hindcast;
        const { game, secret, keys, ...members } = config;
        if (!(game instanceof Game))
            throw new HindcastError('serverConfig.game is missing: hindcast.arena, or one of loadGame');
        this.#hindcast = hindcast;
        this.#memory = memory;
        this.#exports = exports;
        this.game = game;
        const at = memory.struct,
            why = memory.datagram;
        exports.hc_server_config_init(at, memory.size('server_config'));
        memory.write('server_config', at, {
            ruleHash: game.ruleHash,
            ...members,
            game: game.pointer,
            keys: keys ? { keys, count: keys.length } : ownKey(hindcast),
        });
        const make = (place) => {
            memory.write('server_config', at, { secret: place });
            const fault = memory.text(exports.hc_server_config_check(at, why, SCRATCH));
            if (fault !== null) throw new HindcastError(`serverConfig: ${fault}`);
            return exports.hc_server_create(at, time(unixUs), time(nowUs));
        };
        if (secret !== undefined && secret.length !== 32)
            throw new HindcastError(`serverConfig.secret has ${secret.length} bytes, but must have 32`);
        this.#pointer = secret === undefined ? make(0) : memory.with(secret, make);
        memory.bytes(at, memory.size('server_config')).fill(0); // it holds keys
        if (this.#pointer === 0) throw new HindcastError('no memory for a server');
    }

    destroy() {
        this.#exports.hc_server_destroy(this.#pointer);
        this.#exports.hc_rewind_log_destroy(this.#rewinds);
        this.#pointer = this.#rewinds = 0;
    }

    /** A credential for a user: { clientId, name, players, ... }. */
    issue(user, lifeS, nowUs) {
        const at = this.#memory.struct,
            out = this.#memory.datagram;
        this.#memory.bytes(at, this.#memory.size('server_user')).fill(0);
        this.#memory.write('server_user', at, { players: 1, ...user });
        const status = this.#exports.hc_server_issue(this.#pointer, at, lifeS, out, time(nowUs));
        if (status !== 0) throw new HindcastError(`no token can be issued: ${this.#hindcast._status(status)}`);
        return this.#memory.read('credential', out);
    }

    receive(from, bytes, nowUs) {
        if (bytes.length > SCRATCH) return 'malformed';
        putAddress(this.#memory, this.#memory.struct, from);
        this.#memory.bytes(this.#memory.datagram, bytes.length).set(bytes);
        const status = this.#exports.hc_server_receive(
            this.#pointer,
            this.#memory.struct,
            this.#memory.datagram,
            bytes.length,
            time(nowUs),
        );
        return status === 0 ? 'ok' : this.#hindcast._status(status);
    }

    advance(nowUs) {
        this.#exports.hc_server_advance(this.#pointer, time(nowUs));
    }

    /** The next due datagram and its destination: { to, bytes }; null: none is due. */
    send(nowUs) {
        const size = this.#exports.hc_server_send(
            this.#pointer,
            this.#memory.struct,
            this.#memory.datagram,
            time(nowUs),
        );
        if (size === 0) return null;
        return {
            to: getAddress(this.#memory, this.#memory.struct),
            bytes: this.#memory.copy(this.#memory.datagram, size),
        };
    }

    deadline() {
        return fromTime(BigInt.asUintN(64, this.#exports.hc_server_deadline(this.#pointer)));
    }

    *events() {
        while (this.#exports.hc_server_poll_event(this.#pointer, this.#memory.struct)) {
            const event = this.#memory.read('server_event', this.#memory.struct);
            yield {
                ...event,
                address: getAddress(
                    this.#memory,
                    this.#memory.struct + this.#memory.offset('server_event', 'address'),
                ),
                players: event.players.slice(0, event.playerCount),
            };
        }
    }

    *gameEvents() {
        while (this.#exports.hc_server_next_game_event(this.#pointer, this.#memory.struct)) {
            const event = this.#memory.read('server_game_event', this.#memory.struct);
            yield { ...event, kind: this.game.eventKinds[event.kind] };
        }
    }

    sendMessage(cid, bytes, nowUs) {
        return this.#hindcast._status(
            this.#memory.with(bytes, (at, size) =>
                this.#exports.hc_server_send_message(this.#pointer, cid, at, size, time(nowUs)),
            ),
        );
    }

    notify(cid, notice, nowUs) {
        const at = this.#memory.struct;
        this.#memory.bytes(at, this.#memory.size('notice')).fill(0);
        this.#memory.write('notice', at, notice, 'notice');
        return this.#hindcast._status(this.#exports.hc_server_notify(this.#pointer, cid, at, time(nowUs)));
    }

    sendUnreliable(cid, bytes) {
        return this.#hindcast._status(
            this.#memory.with(bytes, (at, size) =>
                this.#exports.hc_server_send_unreliable(this.#pointer, cid, at, size),
            ),
        );
    }

    nextMessage() {
        return this.#message(this.#exports.hc_server_next_message);
    }
    nextUnreliable() {
        return this.#message(this.#exports.hc_server_next_unreliable);
    }

    #message(next) {
        const at = next(this.#pointer, this.#memory.struct);
        if (at === 0) return null;
        const { cid, clientId, size } = this.#memory.read('server_message', this.#memory.struct);
        return { cid, clientId, bytes: this.#memory.copy(at, size) };
    }

    /** Changes those members that may change while clients play; the others must be as at first. */
    reconfigure(members, nowUs) {
        const at = this.#memory.struct;
        this.#exports.hc_server_config_init(at, this.#memory.size('server_config'));
        this.#memory.write('server_config', at, members);
        return this.#hindcast._status(this.#exports.hc_server_reconfigure(this.#pointer, at, time(nowUs)));
    }

    kick(cid, reason, nowUs) {
        return this.#hindcast._status(this.#exports.hc_server_kick(this.#pointer, cid, reason, time(nowUs)));
    }

    /** Adds a player without a client; null: no place is free. */
    addNpc() {
        const player = this.#exports.hc_server_add_npc(this.#pointer);
        return player === NO_PLAYER ? null : player;
    }

    removeNpc(player) {
        return this.#hindcast._status(this.#exports.hc_server_remove_npc(this.#pointer, player));
    }

    putNpcInput(player, tick, input) {
        this.game._putInput(this.#memory.struct, input);
        return this.#hindcast._status(
            this.#exports.hc_server_put_npc_input(this.#pointer, player, tick, this.#memory.struct),
        );
    }

    shutdown(nowUs) {
        this.#exports.hc_server_shutdown(this.#pointer, time(nowUs));
    }
    get closed() {
        return this.#exports.hc_server_closed(this.#pointer) !== 0;
    }
    get world() {
        return this.#memory.read('world', this.#exports.hc_server_world(this.#pointer));
    }
    stats() {
        return this.#memory.read('server_stats', this.#exports.hc_server_stats(this.#pointer));
    }

    /** What the server knows of each client. */
    clients(nowUs) {
        const most = this.#exports.hc_server_sessions(this.#pointer, 0, 0),
            size = this.#memory.size('server_client');
        const at = this.#memory.allocate(Math.max(1, most) * size);
        try {
            const count = Math.min(most, this.#exports.hc_server_list_clients(this.#pointer, at, most, time(nowUs)));
            return Array.from({ length: count }, (_, i) => {
                const client = this.#memory.read('server_client', at + i * size);
                const address = getAddress(
                    this.#memory,
                    at + i * size + this.#memory.offset('server_client', 'address'),
                );
                return { ...client, address, players: client.players.slice(0, client.session.playerCount) };
            });
        } finally {
            this.#exports.free(at);
        }
    }

    #timeline() {
        return this.#exports.hc_server_timeline(this.#pointer);
    }
    head() {
        return this.#exports.hc_timeline_head(this.#timeline()) >>> 0;
    }
    oldest() {
        return this.#exports.hc_timeline_oldest(this.#timeline()) >>> 0;
    }
    timelineStats() {
        return this.#memory.read('timeline_stats', this.#exports.hc_timeline_stats(this.#timeline()));
    }

    /** The hash of the world at `tick`; null: the tick is not kept. */
    hash(tick) {
        return this.#keeps(tick) ? BigInt.asUintN(64, this.#exports.hc_timeline_hash(this.#timeline(), tick)) : null;
    }

    #keeps(tick) {
        return tick >= this.oldest() && tick <= this.head();
    }

    /** The input with which a player was stepped from `tick`: its fields; null: the tick is not kept. */
    input(player, tick) {
        if (!this.#keeps(tick) || tick === this.head()) return null;
        const at = this.#exports.hc_timeline_effective(this.#timeline(), player, tick);
        return readFields(this.#memory.view, this.game.inputFields, at);
    }

    /** What the slot of an input holds: 'unknown', 'known', 'forced' or 'retracted'. */
    slot(player, tick) {
        return this.#memory.word('slot', this.#exports.hc_timeline_slot(this.#timeline(), player, tick));
    }

    /** All living entities at `tick`; null: the tick is not kept. */
    entities(tick) {
        if (!this.#keeps(tick)) return null;
        const world = this.#exports.hc_server_world(this.#pointer),
            table = this.#memory.read('world', world);
        const presence = this.#exports.hc_timeline_presence(this.#timeline(), tick);
        const states = this.#exports.hc_timeline_states(this.#timeline(), tick),
            { view } = this.#memory,
            all = [];
        for (let e = 0; e < table.entities; e++) {
            if (view.getUint8(presence + e) !== ALIVE) continue;
            const kind = view.getUint8(table.kindOf + e),
                owner = view.getUint16(table.ownerOf + 2 * e, true);
            all.push({
                entity: e,
                owner: owner === NO_PLAYER ? null : owner,
                kind: this.game.kinds[kind].name,
                values: this.game._state(kind, states + e * table.stride),
            });
        }
        return all;
    }

    /** Records rewinds from now on. */
    logRewinds() {
        if (this.#rewinds !== 0) return;
        this.#rewinds = this.#exports.hc_rewind_log_create(this.#exports.hc_server_world(this.#pointer), 0);
        if (this.#rewinds === 0) throw new HindcastError('no memory for a log of rewinds');
        this.#exports.hc_server_log_rewinds(this.#pointer, this.#rewinds);
    }

    /** The rewinds since the last call, at most the newest 64. */
    *rewinds() {
        if (this.#rewinds === 0) throw new HindcastError('call logRewinds first');
        const count = Number(this.#exports.hc_rewind_log_count(this.#rewinds));
        for (; this.#nextRewind < count; this.#nextRewind++) {
            const at = this.#exports.hc_rewind_log_get(this.#rewinds, BigInt(this.#nextRewind));
            if (at === 0) continue;
            const rewind = this.#memory.read('rewind', at);
            rewind.causes.length = rewind.causeCount;
            rewind.changes.length = rewind.changeCount;
            yield rewind;
        }
    }
}

/** A random key: tokens of the page's own server are for this page alone. */
export function ownKey(hindcast) {
    const key = new Uint8Array(32);
    crypto.getRandomValues(key);
    return { keys: [{ id: 0, key }], count: 1 };
}

/** "a.b.c.d:port" to the struct at `at`. */
export function putAddress(memory, at, text) {
    const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5})$/.exec(text)?.slice(1).map(Number);
    if (!found || found.slice(0, 4).some((part) => part > 255) || found[4] > 65535)
        throw new HindcastError(`the address is ${show(text)}, but must be like 127.0.0.1:40000`);
    memory.write('address', at, {
        ip: Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...found.slice(0, 4)]),
        port: found[4],
    });
}

export function getAddress(memory, at) {
    const { ip, port } = memory.read('address', at);
    return `${ip.slice(12).join('.')}:${port}`;
}

/** One direction of a simulated link: hindcast/network_sim.h. */
export class NetworkSim {
    #hindcast;
    #memory;
    #exports;
    #pointer;

    constructor(hindcast, conditions, seed, packetsMax) {
        this.#hindcast = hindcast;
        this.#memory = hindcast.memory;
        this.#exports = hindcast.exports;
        this.#put(conditions);
        this.#pointer = this.#exports.hc_network_sim_create(this.#memory.struct, BigInt(seed), packetsMax, 0);
        if (this.#pointer === 0)
            throw new HindcastError(`no memory for a link, or packetsMax, ${packetsMax}, is not in [1, 65536]`);
    }

    #put(conditions) {
        const at = this.#memory.struct;
        if (typeof conditions === 'string') conditions = this.#hindcast.networkPreset(conditions);
        this.#exports.hc_network_sim_config_default(at);
        this.#memory.write('network_sim_config', at, conditions, 'link');
        const fault = this.#memory.text(this.#exports.hc_network_sim_config_check(at));
        if (fault !== null) throw new HindcastError(`link.${camel(fault)} is out of its range`);
    }

    destroy() {
        this.#exports.hc_network_sim_destroy(this.#pointer);
        this.#pointer = 0;
    }

    setConditions(conditions, nowUs) {
        this.#put(conditions);
        this.#exports.hc_network_sim_set_config(this.#pointer, time(nowUs), this.#memory.struct);
    }

    send(bytes, nowUs) {
        if (bytes.length > 1500) throw new HindcastError(`a packet has ${bytes.length} bytes, but at most 1500`);
        this.#memory.bytes(this.#memory.datagram, bytes.length).set(bytes);
        this.#exports.hc_network_sim_send(this.#pointer, time(nowUs), this.#memory.datagram, bytes.length);
    }

    /** The next packet that has arrived, a copy; null: there is none. */
    receive(nowUs) {
        const size = this.#exports.hc_network_sim_receive(this.#pointer, time(nowUs), this.#memory.datagram, SCRATCH);
        return size < 0 ? null : this.#memory.copy(this.#memory.datagram, size);
    }

    deadline() {
        return fromTime(BigInt.asUintN(64, this.#exports.hc_network_sim_deadline(this.#pointer)));
    }
    get inFlight() {
        return this.#exports.hc_network_sim_in_flight(this.#pointer);
    }

    stats() {
        this.#exports.hc_network_sim_stats(this.#memory.struct, this.#pointer);
        return this.#memory.read('network_sim_stats', this.#memory.struct);
    }
}
