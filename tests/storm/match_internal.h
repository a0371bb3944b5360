/// The inside of a match, shared by its files: match (the agenda), observe (the hooks), calm (its
/// length), keys (inputs), attackers, and the checkers.
#pragma once

#include "common/programs/thinker.h"
#include "hindcast/arena.h"
#include "tests/sim/sim.h"
#include "tests/storm/connections.h"
#include "tests/storm/event_log.h"
#include "tests/storm/match.h"
#include "tests/storm/quick_arena.h"
#include "tests/storm/units.h"
#include "tests/storm/varied_game.h"

struct storm_truth;
struct storm_matches;

enum {
    STORM_TAPE = 32,         ///< datagrams of each client that attackers can replay
    STORM_PORT_FIRST = 1024, ///< of the simulation's clients; strangers have those below
    STORM_CHECKERS_MAX = 32,
};

/// The taps of a player's buttons.
struct storm_taps {
    unsigned count;   ///< taps since its client's newest connection began
    unsigned stamped; ///< presses seen in what the client has sent
    hc_tick head;     ///< the client's head at the newest tap
    hc_tick end;      ///< ticks before it were sent then
};

struct storm_taped {
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX]; ///< as it was sent
    uint8_t head[HC_DATA_BODY_AT];  ///< first bytes of the datagram before it was sealed
};

/// The troubles of links.
enum storm_trouble {
    STORM_DARK,       ///< The links of a client lose all.
    STORM_WORSE,      ///< A client has slower links, which lose more.
    STORM_DIP,        ///< A client has narrow links.
    STORM_SCAN,       ///< The links of a client lose all for a moment.
    STORM_ROUTE,      ///< The links of a client take another way.
    STORM_SPLIT,      ///< The links of some clients lose all.
    STORM_SHARED_DIP, ///< The link of all clients is narrower.
    STORM_TROUBLES
};

/// One client's part in the match.
struct storm_seat {
    bool hostile;
    bool troubles[STORM_TROUBLES]; ///< troubles of its links
    bool leaves;                   ///< the client has sent a CLOSE
    unsigned connects;             ///< with a name
    uint32_t cid;                  ///< of the connection from which it last accepted a DATA
    hc_tick seen_as_of;            ///< newest snapshot looked at
    struct storm_received_unit units[STORM_UNITS_MAX];
    struct storm_client_counts counts; ///< of connects that are over
    struct hc_thinker bots[HC_OWN_PLAYERS_MAX];
    size_t bytes; ///< bytes that the client's allocator has given out
    struct hc_allocator allocator;
    uint64_t frozen_us;  ///< until when it does nothing
    uint64_t trouble_us; ///< when a trouble last began or ended, or lasts until then
    uint64_t jumped_us;  ///< when its clock jumped; 0: never
    uint64_t lost_us;    ///< when the client lost its connection
    uint64_t denied_us;  ///< when the client was denied since, to ask again later; 0: never
    struct storm_taped tape[STORM_TAPE];
    unsigned taped;
    unsigned stolen; ///< cookies that it was given, to be used from another port
    struct storm_taps taps[HC_OWN_PLAYERS_MAX];
};

struct storm_match {
    const struct storm_plan *plan;
    const struct storm_options *options;
    struct storm_outcome *outcome;
    struct storm_verdict *verdict;
    struct hc_sim *sim;
    struct storm_truth *truth;
    struct storm_varied_game varied;      ///< the game, if its entities are shown in other ways
    struct storm_quick_arena quick_arena; ///< the game, if the plan wants it
    struct hc_game near_arena;            ///< the arena with another view
    struct hc_game_event_kind event_kinds[HC_EVENT_KINDS_MAX]; ///< of the arena; some may wait
    struct storm_conns conns;
    struct storm_event_log log;
    struct storm_seat *seats;
    unsigned clients;
    uint64_t tick_us;
    bool shared_dip;    ///< the link that the clients share is narrower
    bool healed, quiet; ///< links are clean, without attacks; no key is pressed
    uint64_t healed_us; ///< time when links were healed
    bool settled;       ///< server and clients must agree at every final tick
    bool last_part;     ///< of the calm: nothing may stall
    struct hc_rng attack;
    size_t host_bytes; ///< bytes that the host's allocator has given out
    struct storm_units units;
    unsigned checkers;                ///< checkers that follow the server; 0: it has matches
    void *states[STORM_CHECKERS_MAX]; ///< of the checkers
    struct storm_matches *many;       ///< NULL: the server has one world
};

// ---- match --------------------------------------------------------------------------------------

/// One number of the plan.
int64_t storm_match_get(const struct storm_match *match, enum storm_match_key key);
int64_t storm_client_get(const struct storm_match *match, unsigned client,
                         enum storm_client_key key);

/// The server's timeline, and its head.
const struct hc_timeline *storm_match_timeline(const struct storm_match *match);
hc_tick storm_match_head(const struct storm_match *match);

/// Whether there are fewer snapshots than ticks: a client simulates the ticks between by itself.
bool storm_match_sparse(const struct storm_match *match);

/// Whether there are attacks.
bool storm_match_attacked(const struct storm_match *match);

/// Whether the match is played again without its attacks, and must go the same way for the honest:
/// then attackers do nothing to them that may change something.
bool storm_match_compared(const struct storm_plan *plan);

/// The greatest input delay and lead that a client may choose, in ticks.
int64_t storm_client_delay_max(const struct storm_match *match, unsigned client);
int64_t storm_client_lead_max(const struct storm_match *match, unsigned client);

/// The client's prediction limit: as drawn, but more than its lead, else it cannot be created.
uint32_t storm_client_limit(const struct storm_match *match, unsigned client);

/// The client begins to connect.
void storm_match_connect(struct storm_match *match, unsigned client);

/// Fails the match because something about a client is wrong.
void storm_wrong(struct storm_match *match, const char *oracle, hc_tick tick, unsigned client,
                 const char *text);

/// Logs an event, if the log may be printed.
#define STORM_NOTE(match, ...)                                                                     \
    ((match)->options->deep && (match)->verdict->result == STORM_FINE                              \
         ? storm_event_log_add(&(match)->log, hc_sim_now((match)->sim), storm_match_head(match),   \
                               __VA_ARGS__)                                                        \
         : (void)0)

// ---- links --------------------------------------------------------------------------------------

/// Begins or ends a trouble; that of all links with any client.
void storm_links_trouble(struct storm_match *match, unsigned client, enum storm_trouble trouble,
                         bool on);

/// The conditions of a client's link, and of the one that all share.
struct hc_network_sim_config storm_links_of(const struct storm_match *match, unsigned client,
                                            bool up);
struct hc_network_sim_config storm_links_shared(const struct storm_match *match, bool up);

/// Sets the conditions of a client's links, and of all links.
void storm_links_set(struct storm_match *match, unsigned client);
void storm_links_set_all(struct storm_match *match);

// ---- observe ------------------------------------------------------------------------------------

/// Allocates the checkers' states.
void storm_observe_begin(struct storm_match *match);

/// The simulation's hooks, which call those of the checkers.
struct hc_sim_hooks storm_observe_hooks(void);

/// A client was created, or leaves, or is about to be destroyed.
void storm_observe_created(struct storm_match *match, unsigned client);
void storm_observe_leaves(struct storm_match *match, unsigned client);
void storm_observe_ends(struct storm_match *match, unsigned client);

/// The last part of the calm begins, and ends.
void storm_observe_last_part(struct storm_match *match);
void storm_observe_calm(struct storm_match *match);

/// The match ends; then server and clients are destroyed.
void storm_observe_end(struct storm_match *match);
void storm_observe_free(struct storm_match *match);

// ---- calm ---------------------------------------------------------------------------------------

/// The round trip on clean links.
uint64_t storm_calm_rtt_us(const struct storm_match *match, unsigned client);

/// The most that the storm leaves behind on a client's links.
uint64_t storm_calm_straggle_us(const struct storm_match *match, unsigned client);

/// The longest that a client waits for a snapshot on clean links, or one tick.
uint32_t storm_calm_wait_ticks(const struct storm_match *match);

/// Microseconds after the storm until everything must go well again; and after inputs stop until
/// all must agree.
uint64_t storm_calm_us(const struct storm_match *match);
uint64_t storm_calm_agree_us(const struct storm_match *match);

// ---- keys ---------------------------------------------------------------------------------------

/// Whether the inputs of a client's players depend on the world that they see.
bool storm_keys_look(const struct storm_plan *plan, unsigned client);

/// Writes the buttons of an input that a tap presses, all at once. 0: the game has none.
uint32_t storm_keys_buttons(const struct hc_game *game, uint8_t buttons[static HC_INPUT_MAX]);

/// Writes the input of a client's local player.
void storm_keys(struct storm_match *match, unsigned client, unsigned index, hc_tick tick,
                void *input);

// ---- attackers ----------------------------------------------------------------------------------

/// Ways to attack: bits of the key `attack`.
enum storm_attack {
    STORM_ATTACK_GARBAGE = 1 << 0,    ///< random bytes from its own address
    STORM_ATTACK_SPOOF = 1 << 1,      ///< random bytes from strangers' and others' addresses
    STORM_ATTACK_REPLAY = 1 << 2,     ///< old datagrams of its own
    STORM_ATTACK_STEAL = 1 << 3,      ///< others' datagrams from its own address
    STORM_ATTACK_FLIP = 1 << 4,       ///< datagrams of its own with bits turned
    STORM_ATTACK_FUTURE = 1 << 5,     ///< inputs for ticks far ahead, and a lying client tick
    STORM_ATTACK_ANCIENT = 1 << 6,    ///< inputs for ticks long gone, and a lying display offset
    STORM_ATTACK_ACK = 1 << 7,        ///< acknowledges datagrams that were never sent
    STORM_ATTACK_FORCE = 1 << 8,      ///< gives up all its inputs, also those to come
    STORM_ATTACK_NO_ACK = 1 << 9,     ///< acknowledges nothing
    STORM_ATTACK_SILENT = 1 << 10,    ///< sends nothing more, and listens
    STORM_ATTACK_HANDSHAKE = 1 << 11, ///< floods of handshakes from many ports
};

/// Makes the attacks of one tick.
void storm_attackers_attack(struct storm_match *match, unsigned client);

/// Changes one of the attacker's own datagrams; false: it is not sent.
bool storm_attackers_tamper(struct storm_match *match, unsigned client, uint8_t *bytes,
                            size_t size);

/// The server answers the attacker, which uses its cookie from another port.
void storm_attackers_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                              size_t size);

/// A client was admitted at this port. Fails where only another port's cookie was used.
void storm_attackers_joined(struct storm_match *match, uint16_t port);

/// Remembers a datagram, as it was before and after it was sealed.
void storm_attackers_tape(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size, const uint8_t *sealed);
