// Owns what the page remembers of the server: how each input arrived, and the rewinds.

/** How an input arrived at the server. */
export const UNKNOWN = 0, // not yet: the server predicts it
    IN_TIME = 1, // before its tick began
    LATE = 2, // after it, and the server rewound or had predicted it
    REFUSED = 3; // too late: the server's guess is final

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
        server.logRewinds();
    }

    /** How the input of a player for a tick arrived, as far as it is remembered. */
    arrival(player, tick) {
        const place = tick % TICKS_KEPT;
        return tick >= 0 && this.tickOf[place] === tick ? this.arrivals[place * this.players + player] : UNKNOWN;
    }

    #set(player, tick, arrival) {
        const place = tick % TICKS_KEPT;
        if (this.tickOf[place] !== tick) {
            this.tickOf[place] = tick;
            this.arrivals.fill(UNKNOWN, place * this.players, (place + 1) * this.players);
        }
        this.arrivals[place * this.players + player] = arrival;
    }

    /** Reads what is new. Call it after each advance of the match. */
    update() {
        const head = this.server.head();
        this.#readSlots(head);
        for (const rewind of this.server.rewinds()) this.#remember(rewind);
    }

    /** A player takes part from this tick on. */
    join(player, tick) {
        this.joined[player] = tick;
    }

    #readSlots(head) {
        const oldest = Math.max(this.server.oldest(), head - TICKS_KEPT / 2);
        // What is not here when its tick can change no more was guessed for good.
        for (; this.judged < oldest; this.judged++)
            for (let player = 0; player < this.players; player++)
                if (this.judged >= this.joined[player] && this.arrival(player, this.judged) === UNKNOWN)
                    this.#set(player, this.judged, REFUSED);
        for (let tick = oldest; tick < head + 24; tick++)
            for (let player = 0; player < this.players; player++) {
                if (this.arrival(player, tick) !== UNKNOWN) continue;
                const slot = this.server.slot(player, tick);
                // The input of a tick steps the world from it to the next one.
                if (slot === 'known') this.#set(player, tick, tick >= head ? IN_TIME : LATE);
                else if (slot === 'forced') this.#set(player, tick, REFUSED);
            }
    }

    #remember(rewind) {
        const living = this.server.entities(rewind.head)?.length ?? 0;
        const all = rewind.ticks * living;
        this.totals.rewinds++;
        this.totals.ticks += rewind.ticks;
        this.totals.steps += rewind.steps;
        this.totals.all += all;
        for (const cause of rewind.causes)
            if (cause.kind === 'input' && cause.player < this.players) this.#set(cause.player, cause.tick, LATE);
        this.rewinds.push({ ...rewind, all });
        if (this.rewinds.length > REWINDS_KEPT) this.rewinds.shift();
    }

    /** A rewind in a sentence or two; `ownerOf` gives a player's name as an owner's, such as "Your". */
    describe(rewind, ownerOf) {
        const inputs = rewind.causes.filter((cause) => cause.kind === 'input');
        const first = inputs[0];
        const cause = first
            ? `${ownerOf(first.player)} input for tick ${first.tick} arrived ${rewind.head - first.tick} ticks late` +
              (inputs.length > 1 || rewind.moreCauses ? `, with ${inputs.length - 1} more` : '')
            : 'The program ordered a rewind';
        const share = rewind.all > 0 ? ` of ${rewind.all}` : '';
        return (
            `Tick ${rewind.head}: ${cause}. The server went back to tick ${rewind.from} and stepped ` +
            `${plural(rewind.ticks, 'tick')} again: ${plural(rewind.steps, 'entity step')}${share}, because it steps only ` +
            `what the input touches. ${plural(rewind.entities, 'entity', 'entities')} changed.`
        );
    }
}

export function plural(count, one, many = `${one}s`) {
    return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
