// Owns what the page remembers of the server: how each input arrived, the rewinds, and where players really were.

/** How an input arrived at the server. */
export const UNKNOWN = 0, // not yet: the server guesses it
    IN_TIME = 1, // before its tick was played
    GUESSED = 2, // after it, but the server had guessed it right
    LATE = 3, // after it, and the server rewound
    REFUSED = 4; // too late, or never: the server's guess stays

const TICKS_KEPT = 512,
    REWINDS_KEPT = 256;

export class Past {
    constructor(server, players) {
        this.server = server;
        this.players = players;
        /** The newest rewinds, the oldest first. `steps` of `all` entity steps were made again. */
        this.rewinds = [];
        this.totals = { rewinds: 0, ticks: 0, steps: 0, all: 0 };
        this.arrivals = new Uint8Array(TICKS_KEPT * players);
        this.tickOf = new Int32Array(TICKS_KEPT).fill(-1);
        this.joined = new Array(players).fill(Infinity); // the first tick of each player
        this.judged = 0; // ticks before it can change no more, and have all their arrivals
        this.places = new Map(); // of judged ticks, by tick: where each player was
        server.logRewinds();
    }

    /** A player sends inputs for this tick and later ones. */
    join(player, tick) {
        this.joined[player] = tick;
    }

    /** How the input of a player for a tick arrived, as far as it is remembered. */
    arrival(player, tick) {
        const place = tick % TICKS_KEPT;
        return tick >= 0 && this.tickOf[place] === tick ? this.arrivals[place * this.players + player] : UNKNOWN;
    }

    /** How many inputs of a player among those of the last `ticks` ticks were refused. */
    refused(player, ticks) {
        let count = 0;
        for (let tick = this.judged - ticks; tick < this.server.head(); tick++)
            count += this.arrival(player, tick) === REFUSED;
        return count;
    }

    #set(player, tick, arrival) {
        const place = tick % TICKS_KEPT;
        if (this.tickOf[place] !== tick) {
            this.tickOf[place] = tick;
            this.arrivals.fill(UNKNOWN, place * this.players, (place + 1) * this.players);
        }
        this.arrivals[place * this.players + player] = arrival;
    }

    /** Reads what is new. Call it just before each tick of the server. */
    update() {
        const head = this.server.head();
        this.#judge(Math.max(this.server.oldest(), head - TICKS_KEPT / 2));
        this.#readSlots(head);
        for (const rewind of this.server.rewinds()) this.#remember(rewind);
    }

    /** What is not here when its tick can change no more was guessed for good. */
    #judge(oldest) {
        while (this.judged < oldest) {
            for (let player = 0; player < this.players; player++)
                if (this.judged >= this.joined[player] && this.arrival(player, this.judged) === UNKNOWN)
                    this.#set(player, this.judged, REFUSED);
            this.judged++;
            this.#readPlaces(this.judged);
        }
    }

    #readPlaces(tick) {
        const places = new Map();
        for (const { owner, values } of this.server.entities(tick) ?? [])
            if (owner !== null && !places.has(owner) && 'x' in values && 'y' in values) places.set(owner, values);
        this.places.set(tick, places);
        this.places.delete(tick - TICKS_KEPT);
    }

    #readSlots(head) {
        for (let tick = this.judged; tick < head + 24; tick++)
            for (let player = 0; player < this.players; player++) {
                if (this.arrival(player, tick) !== UNKNOWN) continue;
                const slot = this.server.slot(player, tick);
                // The input of a tick steps the world from it to the next one.
                if (slot === 'known') this.#set(player, tick, tick >= head ? IN_TIME : GUESSED);
                else if (slot === 'forced' && tick >= this.joined[player]) this.#set(player, tick, REFUSED);
            }
    }

    #remember(rewind) {
        const living = this.server.entities(rewind.head)?.length ?? 0;
        const all = rewind.ticks * living;
        this.totals.rewinds++;
        this.totals.ticks += rewind.ticks;
        this.totals.steps += rewind.steps;
        this.totals.all += all;
        const inputs = rewind.causes.filter(({ kind, player }) => kind === 'input' && player < this.players);
        for (const { player, tick } of inputs) this.#set(player, tick, LATE);
        this.rewinds.push({ ...rewind, inputs, all });
        if (this.rewinds.length > REWINDS_KEPT) this.rewinds.shift();
    }

    /** Where a player really was at a time in ticks, with a fraction; null: it is not known, or not for good yet. */
    place(player, time) {
        const before = this.places.get(Math.floor(time))?.get(player),
            after = this.places.get(Math.ceil(time))?.get(player),
            part = time - Math.floor(time);
        if (before === undefined || after === undefined) return null;
        return { x: before.x + (after.x - before.x) * part, y: before.y + (after.y - before.y) * part };
    }

    /** A rewind in some sentences; `ownerOf` gives a player's name as an owner's, such as "Your". */
    describe(rewind, ownerOf) {
        const [first] = rewind.inputs,
            more = rewind.inputs.length - 1;
        let text = `Tick ${rewind.head}: `;
        if (first === undefined) text += 'The program ordered a rewind. ';
        else {
            text += `${ownerOf(first.player)} input for tick ${first.tick} arrived ${plural(rewind.head - first.tick, 'tick')} late`;
            text += more > 0 ? `, with ${plural(more, 'other late input')}. ` : '. ';
        }
        text += `The server went back to tick ${rewind.from}`;
        if (first !== undefined && rewind.from > first.tick) text += ', the first that the input changes,';
        text += ` and played ${plural(rewind.ticks, 'tick')} again, but only what the input touches: `;
        text += `${plural(rewind.steps, 'entity step')} of ${rewind.all.toLocaleString('en')}. `;
        const changed = [...new Set(rewind.changes.map(({ entity }) => this.#nameOf(entity, rewind.head, ownerOf)))];
        return text + (changed.length > 0 ? `It changed ${changed.join(', ')}.` : 'In the end nothing was different.');
    }

    #nameOf(entity, tick, ownerOf) {
        const found = this.server.entities(Math.min(tick, this.server.head()))?.find((one) => one.entity === entity);
        if (found === undefined) return 'something that is gone';
        return found.owner === null ? `a ${found.kind}` : `${ownerOf(found.owner).toLowerCase().replace(/^bot/, 'Bot')} ${found.kind}`;
    }
}

export function plural(count, one) {
    return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}
