/// A probe: what a match shows to the inspector while somebody looks at it, a bounded part of it
/// about ten times a second.
///
/// The thread of the match fills the probe's frame after a tick, and the control thread takes it:
/// one flag says whose it is, so that neither waits. Ticks and rewinds that come meanwhile are kept
/// for the next frame, as far as there is room. A match without a probe does nothing for it but
/// read a pointer at each tick.
#pragma once

#include "hindcast/rewind.h"
#include "hindcast/server.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    HC_SV_PROBE_TICKS = 128,    ///< newest ticks in a frame
    HC_SV_PROBE_REWINDS = 32,   ///< newest rewinds in a frame
    HC_SV_PROBE_CLIENTS = 256,  ///< clients in a frame
    HC_SV_PROBE_ENTITIES = 512, ///< entities with a position in a frame
    HC_SV_PROBE_SIGHTS = 4,     ///< clients whose view a frame has
    HC_SV_PROBE_SENT = 256,     ///< entities of such a view
};

/// The work of a match since its tick before, by the clock; microseconds.
struct hc_sv_probe_work {
    uint64_t late_us;    ///< from the time at which the tick was due to its beginning
    uint64_t receive_us; ///< datagrams, and all that is of no other phase
    uint64_t advance_us; ///< rewinds and the new tick
    uint64_t send_us;    ///< snapshots
};

/// A tick, or several that were simulated at once because the server was late: then the work of
/// all.
struct hc_sv_probe_tick {
    hc_tick tick;   ///< the newest
    uint32_t count; ///< of them
    struct hc_sv_probe_work work;
    uint64_t again_us;    ///< the part of advance_us for steps of past ticks, by their number
    uint32_t depth;       ///< ticks that it rewound; 0: none
    uint32_t again_ticks; ///< past ticks that were stepped again
    uint64_t steps;       ///< steps of the new tick
    uint64_t again_steps; ///< steps of past ticks
    uint64_t bytes_sent;
    uint64_t snapshots;
};

/// An alive entity with a position.
struct hc_sv_probe_entity {
    hc_entity entity;
    hc_tick tick; ///< tick of the state
    int64_t x, y;
};

/// The entities in the view of a client, as it was sent them.
struct hc_sv_probe_sight {
    uint32_t cid; ///< 0: nobody's
    uint32_t
        total; ///< entities with a position in the view; beyond the list, others are counted too
    uint32_t count; ///< [0, HC_SV_PROBE_SENT]
    struct hc_sv_probe_entity sent[HC_SV_PROBE_SENT];
};

/// The ticks and rewinds since the frame before.
struct hc_sv_probe_history {
    uint64_t worlds;     ///< worlds that the match has had, with the one of these ticks
    uint32_t lost_ticks; ///< older ticks that it had no room for
    uint32_t tick_count;
    struct hc_sv_probe_tick ticks[HC_SV_PROBE_TICKS]; ///< ascending
    uint32_t lost_rewinds;                            ///< later rewinds that it had no room for
    uint32_t rewind_count;
    struct hc_rewind rewinds[HC_SV_PROBE_REWINDS];
};

struct hc_sv_probe_frame {
    struct hc_sv_probe_history history;
    hc_tick head;
    uint32_t client_total, client_count;
    struct hc_server_client clients[HC_SV_PROBE_CLIENTS];
    uint32_t alive; ///< entities with a position
    uint32_t every; ///< players are shown, and of the others those with a multiple of this number
    uint32_t entity_count;
    struct hc_sv_probe_entity entities[HC_SV_PROBE_ENTITIES]; ///< at the head
    struct hc_sv_probe_sight sights[HC_SV_PROBE_SIGHTS];
};

struct hc_sv_probe {
    atomic_bool full;                        ///< the frame is the control thread's
    atomic_bool leave;                       ///< the control thread wants it back
    atomic_bool left;                        ///< the match has given it back
    atomic_uint watched[HC_SV_PROBE_SIGHTS]; ///< cids that the control thread watches; 0: none
    struct hc_sv_probe_frame frame;          ///< of the thread that `full` names

    // Of the match.
    struct hc_sv_probe_history next;              ///< for the next frame
    uint64_t rewinds;                             ///< rewinds of the log that were taken
    struct hc_timeline_stats stats;               ///< at the tick before
    uint64_t snapshots, bytes_sent;               ///< at the tick before
    struct hc_server_sent sent[HC_SV_PROBE_SENT]; ///< memory for a view
};

/// The place of a probe in a match. All zeros: it has none.
struct hc_sv_probe_seat {
    _Atomic(struct hc_sv_probe *) offered; ///< waits for the match; NULL: none does
    struct hc_sv_probe *held;              ///< the probe of the match
    uint64_t worlds;                       ///< number of the world that it was put into
};

/// Makes an empty probe, which the caller frees with free(). NULL: no memory.
struct hc_sv_probe *hc_sv_probe_create(void);

/// Offers a probe to a match that no other is offered to; by the control thread.
void hc_sv_probe_offer(struct hc_sv_probe_seat *seat, struct hc_sv_probe *probe);

/// Wants a probe back; by the control thread. True: the match had not taken it. False: the match
/// gives it back at its next tick, see hc_sv_probe_has_left.
bool hc_sv_probe_withdraw(struct hc_sv_probe_seat *seat, struct hc_sv_probe *probe);

/// Whether the match has given back a probe that was withdrawn.
bool hc_sv_probe_has_left(struct hc_sv_probe *probe);

/// Whether a match has a probe, or is offered one.
static inline bool hc_sv_probe_seat_is_taken(struct hc_sv_probe_seat *seat) {
    return seat->held != NULL || atomic_load_explicit(&seat->offered, memory_order_relaxed) != NULL;
}

/// Gives back a probe that is withdrawn, and takes over one that is offered; by the thread of the
/// match. While there is a probe, `log` keeps the rewinds of `server`, the match's world number
/// `worlds`.
void hc_sv_probe_seat_renew(struct hc_sv_probe_seat *seat, const struct hc_server *server,
                            uint64_t worlds, const struct hc_rewind_log *log);

/// Notes a tick of `server`, and fills the frame unless the control thread has it.
void hc_sv_probe_note(struct hc_sv_probe *probe, const struct hc_server *server,
                      const struct hc_rewind_log *log, const struct hc_sv_probe_work *work,
                      uint64_t now_us);

/// The frame, if it is full, for the control thread to read; NULL: it is not.
const struct hc_sv_probe_frame *hc_sv_probe_take(struct hc_sv_probe *probe);

/// Gives the frame back to the match.
void hc_sv_probe_return(struct hc_sv_probe *probe);
