/// The inside of a match, shared by the files that make it up: match (what happens when), watch
/// (what is looked at all the time), calm (what must hold after the storm), keys (what players do)
/// and hostile (what attackers do).
#pragma once

#include "client/bots/bot.h"
#include "tests/sim/sim.h"
#include "tests/storm/arrivals.h"
#include "tests/storm/beside.h"
#include "tests/storm/broken.h"
#include "tests/storm/conns.h"
#include "tests/storm/counts.h"
#include "tests/storm/economy.h"
#include "tests/storm/edges.h"
#include "tests/storm/fray.h"
#include "tests/storm/kept.h"
#include "tests/storm/limits.h"
#include "tests/storm/match.h"
#include "tests/storm/recent.h"
#include "tests/storm/rtt.h"
#include "tests/storm/shakes.h"
#include "tests/storm/slots.h"
#include "tests/storm/stamps.h"
#include "tests/storm/told.h"
#include "tests/storm/show.h"
#include "tests/storm/stepped.h"
#include "tests/storm/talk.h"
#include "tests/storm/truth.h"
#include "tests/storm/units.h"

enum {
    STORM_TAPE = 32, ///< datagrams of each client that attackers can replay
};

struct storm_taped {
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX]; ///< as it was sent
    uint8_t head[HC_DATA_BODY_AT];  ///< its first bytes as they were before it was sealed
};

/// One client's part in the match.
struct storm_seat {
    bool hostile;
    bool gone; ///< it is not to come back
    bool dark_up, dark_down, split, worse;
    uint32_t cid;       ///< of the connection from which it last took a DATA
    hc_tick seen_as_of; ///< newest snapshot looked at
    struct storm_heard_unit units[STORM_UNITS_MAX];
    hc_tick heard_once; ///< head of the newest snapshot that told of a unit that was unknown
    hc_tick seen_head;  ///< head when it was looked at last
    uint64_t rejected;  ///< of datagrams that were broken
    struct storm_client_counts counts; ///< of connects that are over
    struct hc_cl_bot bots[HC_OWN_PLAYERS_MAX];
    uint64_t leapt_us;    ///< when its clock leapt; 0: it has not
    bool leapt_lately;    ///< its clock may still have gone by samples from before then
    uint64_t mark_stalls; ///< stalls when the last part of the calm began
    uint64_t mark_out;    ///< datagrams sent when counting them began; UINT64_MAX: it did not play
    uint64_t mark_heard;  ///< stalls that were heard of until then
    uint32_t depth_max;   ///< deepest rollback since then
    struct storm_taped tape[STORM_TAPE];
    unsigned taped;
    unsigned stolen; ///< cookies that it was given, to be used from elsewhere
    struct storm_seen seen;
    struct storm_heard last_down, last_up;
    uint64_t earlier_corrections, earlier_forced; ///< that it has counted on connections before
    uint64_t rewinds;                             ///< of its timeline when it was looked at last
    struct storm_client_tally tally;
    struct storm_stamps stamps;
    struct storm_rtt rtt;
    struct storm_life life;
    struct storm_talk_seat talk;
    struct storm_show *show;                     ///< NULL until it is looked at
    uint8_t nonces[STORM_NONCES][HC_NONCE_SIZE]; ///< for which it was sent cookies
    unsigned nonce_count;
};

struct storm_match {
    const struct storm_plan *plan;
    const struct storm_options *options;
    struct storm_outcome *outcome;
    struct storm_verdict *verdict;
    struct hc_sim *sim;
    struct storm_truth *truth;
    struct storm_host_tally tally;
    struct storm_slots *slots;     ///< NULL unless they are looked at
    struct storm_told *told;       ///< NULL unless snapshots are read
    struct storm_economy *economy; ///< NULL unless steps are counted
    struct storm_tables tables;    ///< of the game, if it is shown in another way
    struct storm_fray fray;        ///< what is played, if the plan wants it
    struct hc_game dim;            ///< the arena, if its players do not see as far as ever
    struct hc_plain *plain;        ///< for single steps; NULL until one is taken
    struct storm_steps steps;
    struct storm_conns conns;
    struct storm_arrivals arrivals;
    struct storm_shakes shakes;
    struct storm_recent recent;
    struct storm_seat *seats;
    unsigned clients;
    uint64_t tick_us;
    bool healed, quiet;  ///< links are clean and nobody attacks; nobody touches a key
    uint64_t healed_us;  ///< when links became clean
    bool settled;        ///< server and clients must agree at every final tick
    bool last_part;      ///< of the calm: nothing may stall, rewinds are what latency explains
    uint32_t rewind_max; ///< deepest rewind of the server in it
    uint64_t mark_us;    ///< when counting datagrams began
    uint64_t host_resimulated;
    uint32_t host_head;
    uint64_t ticked_us; ///< when it came to that, by the server's clock
    struct hc_rng attack;
    size_t host_bytes; ///< that the host's allocator has given out
    struct storm_units units;
};

// ---- match --------------------------------------------------------------------------------------

/// One number of the plan.
int64_t storm_match_get(const struct storm_match *match, enum storm_match_key key);

/// Whether there are fewer snapshots than ticks. What lies between those that a client has heard is
/// its own simulation then: only what it was told of a tick is corrected.
bool storm_match_sparse(const struct storm_match *match);
int64_t storm_client_get(const struct storm_match *match, unsigned client,
                         enum storm_client_key key);

/// Whether the match is played again without its attacks, and must go the same way for the honest:
/// then nothing is done to them that may change something for them.
bool storm_match_compared(const struct storm_plan *plan);

/// The client's prediction limit: as drawn, but more than its lead, else it cannot be created.
uint32_t storm_client_limit(const struct storm_match *match, unsigned client);

/// Enters what happens, if anybody will read it.
#define STORM_NOTE(match, ...)                                                                     \
    ((match)->options->deep && (match)->verdict->result == STORM_FINE                              \
         ? storm_recent_add(&(match)->recent, hc_sim_now((match)->sim),                            \
                            hc_timeline_head(hc_sv_host_timeline(hc_sim_host((match)->sim))),      \
                            __VA_ARGS__)                                                           \
         : (void)0)

// ---- watch --------------------------------------------------------------------------------------

/// The hooks that look at everything.
struct hc_sim_hooks storm_watch_hooks(void);

/// Adds up what the client has counted, before its core is gone.
void storm_watch_count(struct storm_match *match, unsigned client);

/// At the match's end: counters that must be zero, bounds, memory.
void storm_watch_end(struct storm_match *match);

// ---- calm ---------------------------------------------------------------------------------------

/// Microseconds after the storm until nothing of it is left on the links, and all was answered.
uint64_t storm_calm_clean_us(const struct storm_match *match);

/// Microseconds after the storm until everything must go well again; and after inputs stop until
/// all must agree.
uint64_t storm_calm_us(const struct storm_match *match);
uint64_t storm_agree_us(const struct storm_match *match);

/// The last ticks of the calm begin.
void storm_calm_begin_last(struct storm_match *match);

/// Fails unless everybody who is connected is in step and plays on.
void storm_calm_check(struct storm_match *match);

/// Fails unless what the client holds at the final tick it knows of is the server's.
void storm_calm_agree(struct storm_match *match, unsigned client);

// ---- keys ---------------------------------------------------------------------------------------

/// Whether what a client's players do depends on what they see.
bool storm_keys_look(const struct storm_plan *plan, unsigned client);

/// What a local player of a client does.
void storm_keys(struct storm_match *match, unsigned client, unsigned index, hc_tick tick,
                void *input);

// ---- hostile ------------------------------------------------------------------------------------

/// Ways to attack: bits of the key `attack`.
enum storm_attack {
    STORM_ATTACK_GARBAGE = 1 << 0, ///< random bytes from its own address
    STORM_ATTACK_SPOOF = 1 << 1,   ///< random bytes from strangers' and others' addresses
    STORM_ATTACK_REPLAY = 1 << 2,  ///< its own old datagrams
    STORM_ATTACK_STEAL = 1 << 3,   ///< others' datagrams from its own address
    STORM_ATTACK_FLIP = 1 << 4,    ///< its own datagrams with bits turned
    STORM_ATTACK_FUTURE = 1 << 5,  ///< inputs for ticks far ahead, and a lying client tick
    STORM_ATTACK_ANCIENT = 1 << 6, ///< inputs for ticks long gone, and a lying display offset
    STORM_ATTACK_ACK = 1 << 7,     ///< acknowledges what was never sent
    STORM_ATTACK_FORCE = 1 << 8,   ///< gives up all its inputs, also those to come
    STORM_ATTACK_NO_ACK = 1 << 9,  ///< acknowledges nothing
    STORM_ATTACK_SILENT = 1 << 10, ///< says nothing more, and listens
    STORM_ATTACK_SHAKE = 1 << 11,  ///< floods of handshakes from many ports
};

/// Does to the host what the attacker in `client` does in one tick.
void storm_hostile_attack(struct storm_match *match, unsigned client);

/// What becomes of a datagram of its own; false: it is not sent.
bool storm_hostile_tamper(struct storm_match *match, unsigned client, uint8_t *bytes, size_t size);

/// The server answers the attacker: what it gives away is used from elsewhere.
void storm_hostile_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                            size_t size);

/// Somebody was admitted at this port: not with what another one was given.
void storm_hostile_joined(struct storm_match *match, uint16_t port);

/// Remembers a datagram, as it was before and after it was sealed.
void storm_hostile_tape(struct storm_match *match, unsigned client, const uint8_t *bytes,
                        size_t size, const uint8_t *sealed);
