/// The rewinds of a timeline: which inputs had past ticks stepped again, and which entities
/// changed.
///
/// A log keeps the newest rewinds while a server has it (hc_server_log_rewinds). Its lists are
/// bounded, and each says how many it leaves out. A server without a log records nothing.
#pragma once

#include "hindcast/allocator.h"
#include "hindcast/api.h"
#include "hindcast/game.h"
#include "hindcast/tick.h"

HC_C_BEGIN

enum {
    HC_REWINDS_KEPT = 32,       ///< of the newest rewinds of a log
    HC_REWIND_CAUSES_MAX = 16,  ///< listed by a rewind
    HC_REWIND_CHANGES_MAX = 32, ///< listed by a rewind
};

/// The cause for which a tick was stepped again.
enum hc_rewind_cause_kind {
    HC_REWIND_INPUT,  ///< an input came late, and differs from its prediction or renews it
    HC_REWIND_UNTOLD, ///< an input is predicted otherwise, without a known one: a replica's only
    HC_REWIND_ROSTER, ///< a player joined or left in the past: a replica's only
    HC_REWIND_STATE,  ///< an authoritative state was received: a replica's only
    HC_REWIND_ORDER,  ///< the program ordered it, such as hc_server_config.force_rewind
    HC_REWIND_CAUSE_KINDS
};

/// One cause. It names an input once, although the inputs that are predicted from it change too.
struct hc_rewind_cause {
    enum hc_rewind_cause_kind kind;
    hc_tick tick;       ///< tick of the input, of the roster change, or of the state
    hc_player player;   ///< of INPUT, UNTOLD and ROSTER; else HC_NO_PLAYER
    hc_entity entity;   ///< of STATE; else 0
    uint32_t cid;       ///< on a server, of the client that plays `player`; 0: it is an NPC or gone
    uint64_t client_id; ///< of that client
};

/// An entity whose states changed.
struct hc_rewind_change {
    hc_entity entity;
    hc_tick first, last; ///< the ticks of the first and of the last state that changed
};

/// One rewind: past ticks that were stepped again before a new tick.
struct hc_rewind {
    hc_tick head;          ///< newest tick at that time; its state may have changed too
    hc_tick from;          ///< the earliest tick that was stepped again; `head - from` is the depth
    uint32_t ticks;        ///< ticks stepped again
    uint64_t steps;        ///< steps of entities in these
    uint64_t changed;      ///< states that were other ones after such a step
    uint32_t entities;     ///< entities whose states changed
    uint32_t change_count; ///< [0, HC_REWIND_CHANGES_MAX] those of them that `changes` lists
    uint32_t cause_count;  ///< [0, HC_REWIND_CAUSES_MAX] listed causes
    bool more_causes;      ///< there were more
    struct hc_rewind_cause causes[HC_REWIND_CAUSES_MAX];
    struct hc_rewind_change changes[HC_REWIND_CHANGES_MAX]; ///< in the order of their finding
};

struct hc_rewind_log;

/// Creates an empty log for timelines of `world`, which is not kept; the caller frees it with
/// hc_rewind_log_destroy. `allocator`: NULL for malloc. NULL: memory is short.
HC_API struct hc_rewind_log *hc_rewind_log_create(const struct hc_world *world,
                                                  const struct hc_allocator *allocator);

/// Frees a log that no server has any more; NULL is allowed.
HC_API void hc_rewind_log_destroy(struct hc_rewind_log *log);

/// The number of rewinds so far. They are numbered from 0.
HC_API uint64_t hc_rewind_log_count(const struct hc_rewind_log *log);

/// Rewind `number`, valid until the next hc_server_advance; NULL: it is not kept any more, or has
/// not happened yet.
HC_API const struct hc_rewind *hc_rewind_log_get(const struct hc_rewind_log *log, uint64_t number);

HC_C_END
