/**
 * Hindcast for pages: the client library, and for a match in one page also the server and links.
 *
 * The calls are those of the C headers: `client.setInput` is hc_client_set_input of
 * hindcast/client.h, `server.issue` is hc_server_issue of hindcast/server.h. The headers describe
 * them whole; here are their types, and where JavaScript differs. Members of structs have their
 * names in camel case: `rtt_us` is `rttUs`.
 *
 * Times are microseconds of one clock of the caller, as numbers: in a page, performance.now() * 1000,
 * or any virtual time. A wrong argument, or an assertion that fails, throws a HindcastError whose
 * message names it; after a failed assertion the module is not to be used any more. Statuses are words: 'ok', or the cause.
 *
 * Calls of a client belong in this order:
 *   1. hindcast.createClient;
 *   2. each time a datagram arrives: client.receive;
 *   3. client.setInput or client.control whenever an input changes;
 *   4. once a frame, or at client.deadline(): client.advance, then client.send until it returns null;
 *      then client.events, and client.draw or client.shown; back to 2;
 *   5. client.leave, and 4 until the state is 'closed'; client.destroy.
 */

/** Microseconds. */
export type Us = number;

/** 'ok', or the cause for which a call failed. */
export type Status =
    | 'ok'
    | 'out of range'
    | 'malformed'
    | 'truncated'
    | 'unexpected'
    | 'already known'
    | 'too old'
    | 'too new'
    | 'full'
    | 'out of memory'
    | 'input or output failed';

/** A module or a file with one: its URL, its Response, its bytes, or itself. */
export type Source = string | URL | Response | BufferSource | WebAssembly.Module;

/** An error of the caller, of a file, or of memory. */
export class HindcastError extends Error {}

export interface LoadOptions {
    /** Called with each line of a client's log, unless the client has its own. */
    log?: (line: string) => void;
    /** Fills bytes with unpredictable ones; else crypto.getRandomValues does. */
    random?: (bytes: Uint8Array) => void;
}

/** Loads hindcast.wasm, the client, or hindcast-match.wasm, which has the server and links too. */
export function load(source: Source, options?: LoadOptions): Promise<Hindcast>;

/** A loaded module. Its objects belong together: a client takes a game of its own module alone. */
export class Hindcast {
    private constructor();
    /** The bundled game, with its drawing and its bots. */
    readonly arena: Game;
    /** Whether this is hindcast-match.wasm: false, createServer throws. */
    readonly hasServer: boolean;
    /** The functions of C, for what this file lacks. */
    readonly exports: WebAssembly.Exports;
    /** Loads a game that was compiled as a side module; it stays loaded. */
    loadGame(source: Source, options?: GameOptions): Promise<Game>;
    /** A client that starts to connect at `nowUs`. */
    createClient(config: ClientConfig, nowUs: Us): Client;
    /** A bot of the game, or one with random inputs. The same seed and number decide the same. */
    createBot(game: Game, seed?: number | bigint, number?: number): Bot;
    /** A server whose tick 0 is at `nowUs`; tokens expire by `unixUs`, the Unix time then. */
    createServer(config: ServerConfig, unixUs: Us, nowUs: Us): Server;
    /** A server, its clients and their links, in virtual time that begins at `nowUs` (0). */
    createMatch(options?: MatchOptions, nowUs?: Us): Match;
    /** One direction of a simulated link, for at most `packetsMax` packets in flight (1024). */
    createNetworkSim(
        conditions: LinkConditions | LinkPreset,
        seed?: number | bigint,
        packetsMax?: number,
    ): NetworkSim;
    networkPreset(name: LinkPreset): Required<LinkConditions>;
    timingPreset(name: 'rewind' | 'balanced' | 'ahead'): Timing;
    /** A reason in one word, such as 'expired'. */
    denyWord(reason: number): string;
    /** A reason as a short phrase, for a person. */
    denyText(reason: number): string;
    closeText(reason: number): string;
}

// ---- Games --------------------------------------------------------------------------------------

export interface GameOptions {
    /** The content of the game's level, if it needs one. */
    level?: string | Uint8Array;
    /** A side module that exports hindcast_drawing, if the game's own does not. */
    drawing?: Source;
}

export interface Field {
    readonly name: string;
    readonly bits: number;
    readonly isSigned: boolean;
    /** The client library writes it: leave it out of inputs. */
    readonly shownAgo: boolean;
    readonly ownShownAgo: boolean;
}

export class Game {
    private constructor();
    readonly name: string;
    readonly version: number;
    readonly playersMax: number;
    readonly kinds: readonly { readonly name: string; readonly fields: readonly Field[] }[];
    readonly inputFields: readonly Field[];
    readonly inputSize: number;
    /** The names of game events. */
    readonly eventKinds: readonly string[];
    /** The hash of its rule; the first use takes some milliseconds. */
    readonly ruleHash: bigint;
}

/** Fields of an input by their names, as in C or in camel case; a missing one is 0. Or its bytes. */
export type Input = Record<string, number | bigint> | Uint8Array;

// ---- The client ---------------------------------------------------------------------------------

export interface Credential {
    token: Uint8Array;
    secret: Uint8Array;
}

/** hc_client_config: missing members have the defaults of the header. */
export interface ClientConfig {
    game: Game;
    /** A token with its secret: text as `hindcastd token` prints it, or of server.issue. */
    credential: string | Credential;
    players?: number;
    extrapolation?: 'hold' | 'linear' | 'step';
    inputDelay?: number;
    inputDelayMax?: number;
    lead?: number;
    leadMax?: number;
    displayOffset?: number;
    displayOffsetMax?: number;
    others?: Others;
    predictionLimit?: number;
    inputRedundancy?: number;
    smoothingUs?: Us;
    timeoutUs?: Us;
    reconnectUs?: Us;
    ticksPerAdvance?: number;
    staysDesynced?: boolean;
    ruleHash?: bigint;
    /** 32 bytes: with the same ones a match repeats exactly. Without them they are random. */
    entropy?: Uint8Array;
    log?: (line: string) => void;
    /** Called before each rollback, with the earliest tick that is stepped again, and after it. They must not call the client. */
    onRollback?: (first: number) => void;
    onRollbackEnd?: (first: number) => void;
}

export type Others = 'by-game' | 'predicted' | 'as-received';

/** Ticks. A delay is automatic if its maximum is greater than it. */
export interface Timing {
    inputDelay: number;
    inputDelayMax: number;
    lead: number;
    leadMax: number;
}

export interface Display {
    offset: number;
    others: Others;
}

export type ClientState = 'connecting' | 'joining' | 'playing' | 'stalled' | 'reconnecting' | 'leaving' | 'closed';

export type ClientEventKind =
    | 'accepted'
    | 'playing'
    | 'stalled'
    | 'unstalled'
    | 'denied'
    | 'version'
    | 'closed'
    | 'timeout'
    | 'lost'
    | 'reconnected'
    | 'moved'
    | 'desync'
    | 'player-joined'
    | 'player-left'
    | 'player-named'
    | 'notice';

export interface ClientEvent {
    kind: ClientEventKind;
    /** Of 'denied': see denyText. */
    deny: number;
    retryMs: number;
    /** Of 'closed': see closeText. */
    close: number;
    loss: 'silence' | 'reset' | 'timeout' | 'renewal' | 'restart';
    resumed: boolean;
    player: number;
    name: string;
    tick: number;
    difference: Difference;
    /** Of 'notice'; else null. */
    notice: (Notice & { line: string }) | null;
}

/** hc_notice. A client gets it with its line of English. */
export interface Notice {
    kind: 'operator' | 'ending' | 'restarting';
    seconds?: number;
    where?: string;
    text?: string;
}

export interface Difference {
    tick: number;
    compared: boolean;
    entity: number;
    clientValue: number;
    serverValue: number;
}

export interface GameEvent {
    state: 'predicted' | 'late' | 'confirmed' | 'cancelled';
    tick: number;
    entity: number;
    /** The name of the kind. */
    kind: string;
    number: number;
}

/** An entity as it is drawn; fields by their names in camel case, in the units of the game. */
export interface Shown {
    entity: number;
    /** Its player; null: nobody's. */
    owner: number | null;
    kind: string;
    values: Record<string, number>;
}

export interface World {
    players: number;
    tickRate: number;
    seed: bigint;
    entities: number;
    perOwner: number;
}

/** The distribution of a counter; with the unit ms it counts microseconds. */
export interface Histogram {
    count: number;
    mean: number;
    p50: number;
    p90: number;
    p99: number;
    max: number;
}

/** The counters of hindcast/client_counters.h by their names there, in camel case. */
export interface ClientStats {
    datagramsIn: number;
    datagramsOut: number;
    datagramsLost: number;
    bytesIn: number;
    bytesOut: number;
    snapshots: number;
    snapshotsMatched: number;
    rollbacks: number;
    rollbackDepth: Histogram;
    hashChecks: number;
    hashMismatches: number;
    inputsSampled: number;
    inputsForced: number;
    stalls: number;
    corrections: number;
    rttUs: Histogram;
    memoryBytes: number;
    [counter: string]: number | number[] | Histogram;
}

/** hc_client_recent. */
export interface Recent {
    rttUs: Us;
    jitterUs: Us;
    lossUpPpm: number;
    lossDownPpm: number;
    rttMinUs: Us;
    marginLowUs: Us;
    marginMedianUs: Us;
    marginKnown: boolean;
    snapshotAgeUs: Us;
    driftPpm: number;
    driftKnown: boolean;
    predictedTicks: number;
    rollbackTicks: number;
    othersTicks: number;
    inFlightBytes: number;
    inFlightBoundBytes: number;
    inputDelay: number;
    lead: number;
}

/** A person's controls: x and y in [-1, 1], to the right and down; a direction of the aim; buttons. */
export interface Controls {
    x?: number;
    y?: number;
    aimX?: number;
    aimY?: number;
    buttons?: boolean[];
}

export interface DrawOptions {
    /** The part of the canvas that is filled, in its pixels; else all of it. */
    x?: number;
    y?: number;
    width?: number;
    height?: number;
    /** Also draws outlines of the newest state that the server has sent. */
    ghosts?: boolean;
}

export interface Drawn {
    /** The part of the world that the canvas shows. */
    area: { left: number; top: number; width: number; height: number };
    /** Pixels of a unit of the game. */
    scale: number;
    /** The pixel of the own player on the canvas, for a mouse that aims; null: it is not visible. */
    self: { x: number; y: number } | null;
}

export class Client {
    private constructor();
    readonly game: Game;
    readonly state: ClientState;
    /** null before the event 'accepted'. */
    readonly world: World | null;
    receive(bytes: Uint8Array, nowUs: Us): Status;
    setInput(index: number, input: Input): void;
    /** Sets the input of any game from controls, as hindcast-view does. */
    control(index: number, controls: Controls): void;
    setTiming(timing: Timing): Status;
    setDisplay(display: Display, nowUs: Us): Status;
    advance(nowUs: Us): void;
    /** The next due datagram; null: none is due. */
    send(nowUs: Us): Uint8Array | null;
    /** Infinity: the client is closed. */
    deadline(): Us;
    /** Removes the oldest event at each step. */
    events(): IterableIterator<ClientEvent>;
    /** Game events that are to be shown now: for sounds, effects and scores. `draw` shows them too. */
    gameEvents(nowUs: Us): GameEvent[];
    sendMessage(bytes: Uint8Array): Status;
    sendUnreliable(bytes: Uint8Array): Status;
    nextMessage(): Uint8Array | null;
    nextUnreliable(): Uint8Array | null;
    leave(nowUs: Us): void;
    attempt(): { answered: boolean; denied: boolean; proven: boolean; deny: number; protocolId: bigint };
    /** The world's player that local player `index` plays; null before 'accepted', or for a spectator. */
    player(index?: number): number | null;
    playerName(player: number): string | null;
    /** The newest snapshot's tick, and the server's head when it was sent. */
    snapshot(): { tick: number; asOf: number } | null;
    final(): { tick: number; chain: bigint } | null;
    /** The tick at which an entity, or without one the own players, are shown, with its fraction. */
    showTick(nowUs: Us, entity?: number): number | null;
    show(nowUs: Us, entity: number): Shown | null;
    shown(nowUs: Us): Shown[];
    visibleChanges(
        nowUs: Us,
    ): IterableIterator<{ entity: number; owner: number | null; kind: string; visible: boolean }>;
    recent(): Recent;
    stats(): ClientStats;
    /** The predicted tick. */
    head(): number | null;
    /** Draws the world by the game's drawing, or as dots; null: no state was received yet. */
    draw(
        context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
        options: DrawOptions | undefined,
        nowUs: Us,
    ): Drawn | null;
    /** Frees the client without a CLOSE to the server. */
    destroy(): void;
}

export class Bot {
    private constructor();
    /** Chooses the input of the client's first player, once for each tick; call it before each advance. */
    play(client: Client): void;
    destroy(): void;
}

// ---- The server ---------------------------------------------------------------------------------

/** "a.b.c.d:port". */
export type Address = string;

/** hc_server_config: missing members have the defaults of the header. */
export interface ServerConfig {
    game: Game;
    clients?: number;
    tickRate?: number;
    seed?: number | bigint;
    history?: number;
    lateMargin?: number;
    /** The keys of tokens, one or two; without them a random one. */
    keys?: { id: number; key: Uint8Array }[];
    audience?: number | bigint;
    /** 32 bytes: with the same ones a match repeats exactly. Without them they are random. */
    secret?: Uint8Array;
    timeoutUs?: Us;
    lingerUs?: Us;
    connectsPerAddress?: number;
    clientsPerAddress?: number;
    playersPerClient?: number;
    spectators?: number;
    sessionLifeS?: number;
    clientRate?: number;
    snapshotRate?: number;
    forceRewind?: number;
    lagCompensationMs?: number;
    rememberedUsers?: number;
    ruleHash?: bigint;
}

export interface User {
    clientId: number | bigint;
    name?: string;
    userData?: Uint8Array;
    /** The most local players of its client; 1. */
    players?: number;
    watch?: boolean;
}

export interface ServerEvent {
    kind: 'joined' | 'left' | 'timeout' | 'lost' | 'reconnected' | 'moved' | 'round-ended';
    tick: number;
    difference: Difference;
    address: Address;
    cid: number;
    before: number;
    close: number;
    byClient: boolean;
    clientId: bigint;
    name: string;
    userData: Uint8Array;
    playerCount: number;
    players: number[];
}

export interface ServerClient {
    session: { clientId: bigint; cid: number; playerCount: number; connected: boolean };
    name: string;
    players: number[];
    address: Address;
    rttUs: Us;
    jitterUs: Us;
    hasMargin: boolean;
    marginLowUs: Us;
    marginMedianUs: Us;
    usualLateTicks: number;
    displayOffset: number;
    lateInputs: number;
    lateTicks: number;
    connectedUs: Us;
    datagramsReceived: number;
    bytesReceived: number;
    datagramsSent: number;
    bytesSent: number;
    datagramsLost: number;
}

/** The cause of a rewind: on a server a late input. */
export interface RewindCause {
    kind: 'input' | 'untold' | 'roster' | 'state' | 'order';
    tick: number;
    player: number;
    entity: number;
    cid: number;
    clientId: bigint;
}

/** Past ticks that were stepped again before a new tick: hindcast/rewind.h. */
export interface Rewind {
    head: number;
    /** The earliest tick that was stepped again. */
    from: number;
    ticks: number;
    /** Steps of entities in these ticks. */
    steps: number;
    /** States that changed, and their entities. */
    changed: number;
    entities: number;
    causes: RewindCause[];
    moreCauses: boolean;
    /** Entities whose states changed, at most 32, with the ticks of the first and the last change. */
    changes: { entity: number; first: number; last: number }[];
}

export class Server {
    private constructor();
    readonly game: Game;
    readonly world: World;
    readonly closed: boolean;
    /** A token for a user, which expires after `lifeS` seconds. */
    issue(user: User, lifeS: number, nowUs: Us): Credential;
    receive(from: Address, bytes: Uint8Array, nowUs: Us): Status;
    advance(nowUs: Us): void;
    send(nowUs: Us): { to: Address; bytes: Uint8Array } | null;
    deadline(): Us;
    events(): IterableIterator<ServerEvent>;
    /** Game events of final ticks. */
    gameEvents(): IterableIterator<{ tick: number; entity: number; kind: string; number: number }>;
    sendMessage(cid: number, bytes: Uint8Array, nowUs: Us): Status;
    sendUnreliable(cid: number, bytes: Uint8Array): Status;
    nextMessage(): { cid: number; clientId: bigint; bytes: Uint8Array } | null;
    nextUnreliable(): { cid: number; clientId: bigint; bytes: Uint8Array } | null;
    /** Changes limits while clients play; members that are missing have their defaults. */
    reconfigure(members: Partial<Omit<ServerConfig, 'game' | 'keys' | 'secret'>>, nowUs: Us): Status;
    /** Tells the people who play at client `cid`, or with 0 at all, a notice. */
    notify(cid: number, notice: Notice, nowUs: Us): Status;
    kick(cid: number, reason: number, nowUs: Us): Status;
    addNpc(): number | null;
    removeNpc(player: number): Status;
    putNpcInput(player: number, tick: number, input: Input): Status;
    shutdown(nowUs: Us): void;
    clients(nowUs: Us): ServerClient[];
    /** The counters of hindcast/server_counters.h by their names there, in camel case. */
    stats(): Record<string, number | number[] | Histogram>;
    /** The counters of hindcast/timeline.h. */
    timelineStats(): {
        advances: number;
        steps: number;
        resimulatedSteps: number;
        resimulatedTicks: number;
        rewinds: number;
        changed: number;
        depthMax: number;
        depth: number;
    };
    /** The newest tick, and the oldest one that is kept. */
    head(): number;
    oldest(): number;
    hash(tick: number): bigint | null;
    /** All living entities of a tick, as they are simulated: integers. */
    entities(tick: number): Shown[] | null;
    /** The input with which a player was stepped from a tick. */
    input(player: number, tick: number): Record<string, number> | null;
    slot(player: number, tick: number): 'unknown' | 'known' | 'forced' | 'retracted';
    /** Records rewinds from now on, for `rewinds`. */
    logRewinds(): void;
    /** The rewinds since the last call, at most the newest 64. */
    rewinds(): IterableIterator<Rewind>;
    destroy(): void;
}

// ---- Links --------------------------------------------------------------------------------------

export type LinkPreset = 'good' | 'ok' | 'bad' | 'awful';

/** hc_network_sim_config: missing members are 0, no trouble and no limit. */
export interface LinkConditions {
    latencyUs?: Us;
    jitterUs?: Us;
    lossPpm?: number;
    burstMean?: number;
    duplicatePpm?: number;
    reorderPpm?: number;
    bytesPerS?: number;
    queueBytes?: number;
    queueUs?: Us;
}

/** One direction of a simulated link. The fate of the n-th packet depends on the seed, n and the conditions. */
export class NetworkSim {
    private constructor();
    readonly inFlight: number;
    /** Also for packets that wait for the bottleneck. */
    setConditions(conditions: LinkConditions | LinkPreset, nowUs: Us): void;
    send(bytes: Uint8Array, nowUs: Us): void;
    receive(nowUs: Us): Uint8Array | null;
    deadline(): Us;
    stats(): {
        sent: number;
        delivered: number;
        lost: number;
        droppedFull: number;
        droppedQueue: number;
        duplicated: number;
    };
    destroy(): void;
}

// ---- A match in one page ------------------------------------------------------------------------

export interface MatchOptions {
    /** The arena. */
    game?: Game;
    /** Of the world, the links, the bots and the keys: the same seed and calls repeat a match exactly. */
    seed?: number;
    /** Other members of the server's configuration. */
    server?: Partial<ServerConfig>;
    /** Called with each datagram, as it goes onto its link. */
    onSend?: (from: 'server' | 'client', seat: number, bytes: Uint8Array, nowUs: Us) => void;
}

export interface SeatOptions {
    /** The conditions of both directions, or of each; 'good'. */
    link?: LinkConditions | LinkPreset;
    up?: LinkConditions | LinkPreset;
    down?: LinkConditions | LinkPreset;
    /** False: the caller sets the inputs. */
    bot?: boolean;
    name?: string;
    /** 0: a spectator. */
    players?: number;
    /** Other members of the client's configuration. */
    client?: Partial<ClientConfig>;
}

/** A client of a match with its links. */
export interface Seat {
    readonly number: number;
    readonly address: Address;
    readonly client: Client;
    readonly up: NetworkSim;
    readonly down: NetworkSim;
    /** null: the caller sets the inputs. */
    bot: Bot | null;
    /** Changes the conditions of both directions. */
    setLink(conditions: LinkConditions | LinkPreset, nowUs: Us): void;
}

export class Match {
    private constructor();
    readonly hindcast: Hindcast;
    readonly game: Game;
    readonly seed: number;
    readonly server: Server;
    /** The clients by number; null: it was removed. */
    readonly seats: (Seat | null)[];
    /** The time up to which the match has run. */
    readonly nowUs: Us;
    /** Adds a client, which begins to connect. */
    add(options?: SeatOptions): Seat;
    /** Removes a client without a word to the server, as if its program had ended. */
    remove(seat: Seat): void;
    /** Runs all that is due up to `untilUs`. Read events, draw and set inputs between two calls. */
    advance(untilUs: Us): void;
    destroy(): void;
}
