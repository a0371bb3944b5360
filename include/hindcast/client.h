/// libhindcast: a client of a Hindcast server, as a game links it.
///
/// A client is a state machine without I/O. The game owns the socket and the clock and hands both
/// in; it predicts its world at `server tick + lead`, stamps inputs `input_delay` ticks ahead, and
/// rolls back to each state that the server sends. Calls belong in this order:
///   1. hc_client_create;
///   2. each time a datagram arrives: hc_client_receive;
///   3. hc_client_set_input whenever a local player's input changes;
///   4. at hc_client_deadline, or once a frame: hc_client_advance, then hc_client_send until it
///      returns 0; then hc_client_poll_event until it returns false, and hc_client_show to draw;
///      back to 2;
///   5. hc_client_leave, and 4 until the state is HC_CLIENT_CLOSED; hc_client_destroy.
///
/// Whom the server lets in its token says, which the game has from its backend, with a secret that
/// nobody else knows. All that is said is sealed with keys of the connection's own.
///
/// A connection that is lost is made again: when the server has fallen silent, when it says that it
/// has lost it, when it was started again. Until then the world stands still, and is shown as it
/// was. The server keeps the players for a while; a server that was started again has a new world.
///
/// Times are microseconds of one monotonic clock of the caller's. A client may be used from one
/// thread at a time; two clients share nothing. Memory is obtained in hc_client_create and when the
/// server accepts; never while playing.
#pragma once

#include "hindcast/allocator.h"
#include "hindcast/api.h"
#include "hindcast/connection.h"
#include "hindcast/credential.h"
#include "hindcast/game.h"
#include "hindcast/histogram.h"
#include "hindcast/timeline.h"

HC_C_BEGIN

struct hc_client;

enum {
    HC_INPUT_DELAY_MAX = 60,       ///< ticks
    HC_LEAD_MAX = 60,              ///< ticks
    HC_DISPLAY_OFFSET_MAX = 120,   ///< ticks
    HC_PREDICTION_LIMIT_MAX = 240, ///< ticks
    HC_CLIENT_ENTROPY_SIZE = 32,   ///< bytes
};

struct hc_client_config {
    const struct hc_game *game; ///< the same build as the server's, or it answers with its version
    struct hc_credential credential; ///< who it is: a token for this server, and its secret
    uint8_t players;                 ///< local players, [0, HC_OWN_PLAYERS_MAX]; 0 watches
    uint32_t input_delay;            ///< D: an input sampled at tick P is stamped P + D; ticks
    uint32_t display_offset;         ///< what is shown lies this many ticks behind the prediction
    uint32_t lead;             ///< the prediction runs this many ticks ahead of the server; cut,
                               ///< as D is, so that inputs come within the server's future
    uint32_t prediction_limit; ///< ticks ahead of the last received state before it stalls, in
                               ///< which players go on being heard; more than `lead`, and better
                               ///< more than lead and a round trip
    uint32_t input_redundancy; ///< ticks of input in each datagram; 0: all unacknowledged ones
    uint32_t smoothing_us;     ///< time in which half of a visible correction is blended; 0: pops
    uint32_t timeout_us;       ///< silence after which the connection is lost; 3 s or more, for a
                               ///< server may take 1 s to let go of an earlier connection
    uint32_t reconnect_us;     ///< for which a lost one is tried to be made again; 0: it is over
    /// HC_CLIENT_ENTROPY_SIZE bytes that nobody can foretell, of which nonces and keys are drawn;
    /// hc_client_create reads them, and nothing later. NULL: the operating system's. A system
    /// without a source of its own must bring other bytes for each client: with the same bytes, the
    /// same token and the same `now_us` a second run would repeat the keys of the first.
    const uint8_t *entropy;
    const struct hc_allocator *allocator; ///< NULL: malloc
    /// Called with one line of text, without newline, about what happened; NULL: silent. Never once
    /// per datagram.
    void (*log)(void *context, const char *line);
    void *log_context;
};

enum hc_client_state {
    HC_CLIENT_CONNECTING,   ///< shaking hands
    HC_CLIENT_JOINING,      ///< accepted, no state received yet
    HC_CLIENT_PLAYING,      ///< predicting
    HC_CLIENT_STALLED,      ///< as far ahead of the last received state as it may be: waiting
    HC_CLIENT_RECONNECTING, ///< the connection is lost: shaking hands anew
    HC_CLIENT_LEAVING,      ///< saying goodbye
    HC_CLIENT_CLOSED,       ///< over: the last event tells why
};

/// Why a connection is lost.
enum hc_client_loss {
    HC_CLIENT_LOSS_SILENCE, ///< nothing was heard for timeout_us
    HC_CLIENT_LOSS_RESET, ///< the server knows nothing of it: it was started again, or let go of it
    HC_CLIENT_LOSS_TIMEOUT, ///< the server has not heard anything for too long
    HC_CLIENT_LOSS_RENEWAL, ///< it was used for so long that it needs new keys
};

enum hc_client_event_kind {
    HC_CLIENT_EVENT_ACCEPTED, ///< the server has a place: hc_client_world and player are known
    HC_CLIENT_EVENT_PLAYING,  ///< the first state is there
    HC_CLIENT_EVENT_STALLED,  ///< waits for the server
    HC_CLIENT_EVENT_RESUMED,  ///< goes on after a stall
    HC_CLIENT_EVENT_DENIED,   ///< closed: the server refused; `deny` says why
    HC_CLIENT_EVENT_VERSION,  ///< closed: the server is of another build
    HC_CLIENT_EVENT_CLOSED,   ///< closed by the server or by hc_client_leave; `close` says why
    HC_CLIENT_EVENT_TIMEOUT,  ///< closed: nothing was heard for timeout_us, and reconnect_us more
    HC_CLIENT_EVENT_LOST,     ///< the connection is lost, and being made again: `loss` says why
    HC_CLIENT_EVENT_RECONNECTED, ///< in the place of ACCEPTED, after a loss; `kept`: with the same
                                 ///< players, and all that was said arrives; else as if for the
                                 ///< first time
    HC_CLIENT_EVENT_MOVED,       ///< the server hears this client from another address than before
};

struct hc_client_event {
    enum hc_client_event_kind kind;
    enum hc_deny_reason deny;
    uint32_t retry_ms; ///< when denied: trying again makes sense after this; 0: never
    enum hc_close_reason close;
    enum hc_client_loss loss;
    bool resumed;
};

/// How an attempt to connect stands.
struct hc_client_attempt {
    bool answered; ///< the server has answered, at least by a COOKIE
    bool denied;   ///< a DENY came: `deny` says why; the client goes on asking until it times out
    bool proven;   ///< the DENY came from the server; else anybody on the path may have sent it
    enum hc_deny_reason deny;
};

/// What a client has counted since its creation; histograms are in ticks unless named otherwise.
struct hc_client_stats {
    uint64_t datagrams_in, datagrams_out, bytes_in, bytes_out;
    uint64_t rejected[HC_STATUS_COUNT]; ///< datagrams refused, by cause; they changed nothing
    uint64_t snapshots;                 ///< received and applied
    uint64_t snapshots_matched;         ///< after which nothing had to be simulated again
    uint64_t snapshots_stale; ///< of those, older than one before: they add to the past alone
    uint64_t rollbacks;
    struct hc_histogram rollback_depth;
    uint64_t stalls, stalled_ticks; ///< ticks that became due during a stall
    uint64_t inputs_sampled;        ///< stamped, of all local players, repeated ones included
    uint64_t inputs_forced;         ///< own ones that the server did without
    uint64_t hash_checks, hash_mismatches; ///< of snapshots, against the server's hash
    uint64_t corrections;                  ///< entity states of past ticks received
    uint64_t restarts;                     ///< the timeline began anew at a received state
    uint64_t losses, reconnects;           ///< of the connection
    struct hc_histogram rtt_us;
    uint64_t rtt_min_us; ///< of the recent samples; 0 before the first
    uint64_t jitter_us;  ///< mean deviation of the round-trip time (RFC 6298's RTTVAR)
    size_t memory_bytes;
};

/// One entity as it is to be drawn.
struct hc_client_shown {
    enum hc_presence presence;
    /// The fields in table order, in 1/256 of a unit; interpolated and smoothed as declared.
    int64_t fields[HC_FIELDS_MAX];
};

/// One local player, D 3, lead 0, prediction limit 64, display offset 0, all inputs repeated,
/// corrections halved every 50 ms, timeout 10 s, 30 s to reconnect. `game` and `credential` must
/// still be set.
HC_API struct hc_client_config hc_client_config_default(void);

/// NULL when the configuration can be used, else the name of the first field out of range.
HC_API const char *hc_client_config_check(const struct hc_client_config *config);

/// A client that begins to connect at `now_us`; NULL: invalid configuration or no memory.
HC_API struct hc_client *hc_client_create(const struct hc_client_config *config, uint64_t now_us);

/// Frees it, without a word to the server; NULL is allowed.
HC_API void hc_client_destroy(struct hc_client *client);

/// A datagram of `size` bytes arrived from the server (the caller has checked the address). It is
/// borrowed for the call. Returns HC_OK or why it was refused; refused ones are counted.
HC_API enum hc_status hc_client_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                        uint64_t now_us);

/// What local player `index` (below config->players) does from the next sampled tick on:
/// input_size bytes, copied. Fields out of range are cut to it, and the game's sanitize_input has
/// its say.
HC_API void hc_client_set_input(struct hc_client *client, unsigned index, const void *input);

/// Does everything that is due at `now_us`: predicts ticks, stalls, gives up, makes datagrams due.
HC_API void hc_client_advance(struct hc_client *client, uint64_t now_us);

/// Writes the next datagram that is due into `out` (HC_DATAGRAM_MAX bytes) and returns its size;
/// 0 when none is.
HC_API size_t hc_client_send(struct hc_client *client, uint8_t out[HC_AT_LEAST(HC_DATAGRAM_MAX)],
                             uint64_t now_us);

/// When hc_client_advance has something to do next; UINT64_MAX once closed.
HC_API uint64_t hc_client_deadline(const struct hc_client *client);

/// Takes the oldest event; false when there is none.
HC_API bool hc_client_poll_event(struct hc_client *client, struct hc_client_event *event);

/// Says the `size` bytes at `message` to the server's game: once, in order with all others, however
/// many datagrams are lost, as long as events say that the connection was kept. HC_INVALID: size
/// not in [1, HC_EVENTS_SIZE_MAX]. HC_UNEXPECTED: it leaves, or is closed. HC_FULL: too much is on
/// the way. Nothing is changed then.
HC_API enum hc_status hc_client_send_message(struct hc_client *client, const void *message,
                                             size_t size);

/// What the server's game has said next, valid until the next datagram, and its size; NULL:
/// nothing. Who does not listen loses what else comes from a server that goes on talking.
HC_API const uint8_t *hc_client_next_message(struct hc_client *client, size_t *size);

/// Says goodbye: the state becomes HC_CLIENT_LEAVING, and HC_CLIENT_CLOSED when it has been said.
HC_API void hc_client_leave(struct hc_client *client, uint64_t now_us);

/// How the newest attempt to connect stands, for a message while it lasts or after it has failed.
HC_API struct hc_client_attempt hc_client_attempt(const struct hc_client *client);

/// Where the connection stands.
HC_API enum hc_client_state hc_client_state(const struct hc_client *client);

/// The world that the server described; NULL before HC_CLIENT_EVENT_ACCEPTED.
HC_API const struct hc_world *hc_client_world(const struct hc_client *client);

/// Which player of the world local player `index` is; HC_NO_PLAYER before the server has said.
HC_API hc_player hc_client_player(const struct hc_client *client, unsigned index);

/// The predicted past and present, to be read only; NULL before HC_CLIENT_EVENT_ACCEPTED.
HC_API const struct hc_timeline *hc_client_timeline(const struct hc_client *client);

/// The newest snapshot applied: the tick that it showed, and the server's head when it was sent.
/// False before the first.
HC_API bool hc_client_snapshot(const struct hc_client *client, hc_tick *shown, hc_tick *as_of);

/// The server's final tick and the chained hash of all ticks up to it, as last received; false
/// before the first snapshot. The hash is keyed by the server: it can be compared with that of
/// another client or of the server's journal, and with nothing else.
HC_API bool hc_client_final(const struct hc_client *client, hc_tick *tick, uint64_t *chain);

/// The tick that is shown at `now_us`, and how far it is on the way to the next, in 1/65536. False
/// when there is nothing to show yet.
HC_API bool hc_client_show_tick(const struct hc_client *client, uint64_t now_us, hc_tick *tick,
                                uint32_t *fraction);

/// How `entity` is to be drawn at `now_us`. False when nothing is shown yet.
HC_API bool hc_client_show(const struct hc_client *client, uint64_t now_us, hc_entity entity,
                           struct hc_client_shown *shown);

/// What has been counted; valid until the next call.
HC_API const struct hc_client_stats *hc_client_stats(const struct hc_client *client);

HC_C_END
