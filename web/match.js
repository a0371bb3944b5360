// Owns a match in one page: a server, its clients and their links, in virtual time.

import { HindcastError } from './memory.js';
import { Bot, Client } from './client.js';
import { NetworkSim, Server } from './server.js';

const FIRST_PORT = 1024;
const PACKETS_MAX = 1024;
const TOKEN_LIFE_S = 60;

/** 32 bytes that differ for each number, and repeat with the seed: a page that has all ends has no secrets. */
function bytesOf(seed, number) {
    const bytes = new Uint8Array(32),
        view = new DataView(bytes.buffer);
    view.setBigUint64(0, BigInt.asUintN(64, BigInt(seed)), true);
    view.setUint32(8, number + 1, true);
    return bytes;
}

/** A client of a match with its links and its bot. */
export class Seat {
    constructor(match, number, options) {
        const { hindcast, server, seed } = match;
        const { link = 'good', up = link, down = link, bot = true, name = '', players = 1, client = {} } = options;
        this.number = number;
        this.address = `127.0.0.1:${FIRST_PORT + number}`;
        this.up = new NetworkSim(hindcast, up, BigInt(seed) * 65536n + BigInt(2 * number), PACKETS_MAX);
        this.down = new NetworkSim(hindcast, down, BigInt(seed) * 65536n + BigInt(2 * number + 1), PACKETS_MAX);
        /** The bot that plays; null: `client.setInput` and `client.control` do. */
        this.bot = bot ? new Bot(hindcast, match.game, seed, number) : null;
        const credential = server.issue(
            { clientId: number + 1, name, players, watch: players === 0 },
            TOKEN_LIFE_S,
            match.nowUs,
        );
        this.client = new Client(
            hindcast,
            { game: match.game, players, entropy: bytesOf(seed, number), ...client, credential },
            match.nowUs,
        );
    }

    /** Changes the conditions of both links. */
    setLink(conditions, nowUs) {
        this.up.setConditions(conditions, nowUs);
        this.down.setConditions(conditions, nowUs);
    }

    deadline() {
        return Math.min(this.client.deadline(), this.up.deadline(), this.down.deadline());
    }

    destroy() {
        this.client.destroy();
        this.up.destroy();
        this.down.destroy();
        this.bot?.destroy();
    }
}

/** A server and its clients. The same seed and calls repeat a match exactly. */
export class Match {
    #hooks;

    constructor(hindcast, options = {}, nowUs = 0) {
        const { game = hindcast.arena, seed = 1, server = {}, onSend } = options;
        this.hindcast = hindcast;
        this.game = game;
        this.seed = seed;
        this.nowUs = nowUs;
        this.server = new Server(
            hindcast,
            { game, seed, secret: bytesOf(seed, 0xffff), keys: [{ id: 0, key: bytesOf(seed, 0xfffe) }], ...server },
            1e6,
            nowUs,
        );
        /** The clients; those that were removed leave a null. */
        this.seats = [];
        this.#hooks = { onSend };
    }

    /** Adds a client, which begins to connect. */
    add(options = {}) {
        const seat = new Seat(this, this.seats.length, options);
        this.seats.push(seat);
        return seat;
    }

    /** Removes a client without a word to the server, as if its process had ended. */
    remove(seat) {
        if (this.seats[seat.number] !== seat) throw new HindcastError('this client is not in the match');
        this.seats[seat.number] = null;
        seat.destroy();
    }

    /** Runs all that is due up to `untilUs`, in order. */
    advance(untilUs) {
        for (;;) {
            let next = this.server.deadline();
            for (const seat of this.seats) if (seat !== null) next = Math.min(next, seat.deadline());
            if (next > untilUs) break;
            this.nowUs = Math.max(this.nowUs, next);
            this.#turn();
        }
        this.nowUs = Math.max(this.nowUs, untilUs);
    }

    #turn() {
        const now = this.nowUs,
            { server, seats } = this;
        let bytes, sent;
        for (const seat of seats)
            while (seat !== null && (bytes = seat.up.receive(now)) !== null) server.receive(seat.address, bytes, now);
        if (now >= server.deadline()) server.advance(now);
        while ((sent = server.send(now)) !== null) {
            const seat = seats[Number(sent.to.slice(sent.to.indexOf(':') + 1)) - FIRST_PORT];
            this.#hooks.onSend?.('server', seat?.number, sent.bytes, now);
            seat?.down.send(sent.bytes, now);
        }
        for (const seat of seats) if (seat !== null) this.#turnClient(seat, now);
    }

    #turnClient(seat, now) {
        const { client } = seat;
        let bytes;
        while ((bytes = seat.down.receive(now)) !== null) client.receive(bytes, now);
        seat.bot?.play(client);
        if (now >= client.deadline()) client.advance(now);
        while ((bytes = client.send(now)) !== null) {
            this.#hooks.onSend?.('client', seat.number, bytes, now);
            seat.up.send(bytes, now);
        }
    }

    destroy() {
        for (const seat of this.seats) seat?.destroy();
        this.server.destroy();
        this.seats.length = 0;
    }
}
