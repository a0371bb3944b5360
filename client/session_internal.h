/// The inside of a client, shared by the files that make it up: session.c (lifecycle and queries),
/// link/handshake.c, world/world.c (DATA), world/desync.c, timing.c (inputs, and ticks ahead of the
/// server), link/sending.c (DATA), link/skim.c (clients without a world).
#pragma once

#include "client/link/clock.h"
#include "client/world/display.h"
#include "client/link/entropy.h"
#include "client/world/game_events.h"
#include "client/world/interpolation.h"
#include "client/world/seen.h"
#include "client/world/snapshot_reader.h"
#include "common/timeline.h"
#include "hindcast/client.h"
#include "proto/body.h"
#include "proto/compare.h"
#include "proto/connection.h"
#include "proto/message.h"
#include "proto/snapshot.h"
#include "proto/token.h"

enum {
    HC_CL_AHEAD_US = 50000,  ///< head ahead of the client clock, at least 3 ticks, before it stalls
    HC_CL_INPUTS = 1024,     ///< ticks of own inputs in the ring
    HC_CL_EVENTS = 96,       ///< to be polled; later ones are dropped, except the last
    HC_CL_EVENTS_SPARE = 32, ///< places that joins, leaves and names of players leave to the rest
    HC_CL_DESYNC_MISMATCHES = 3, ///< snapshots with a wrong hash
    HC_CL_DESYNC_US = 1000000,   ///< within so long are a desync
    HC_CL_MARGIN = 16,           ///< ticks of the timeline beyond those needed
    HC_CL_FUTURE_MIN = 64,       ///< ticks after the head that take inputs, at least
    /// Bytes of messages in one DATA; inputs need the rest.
    HC_CL_MESSAGES_BYTES = HC_DATA_BODY_MAX / 2,
};

/// The handshake so far.
struct hc_cl_handshake {
    uint64_t protocol_id;
    uint8_t nonce[HC_NONCE_SIZE];
    uint8_t secret[HC_EXCHANGE_KEY_SIZE];             ///< of the ephemeral key; zeros after its use
    uint8_t key[HC_EXCHANGE_KEY_SIZE];                ///< public
    bool has_cookie;                                  ///< CONNECT is being sent, else HELLO
    struct hc_datagram_cookie cookies[HC_COOKIES];    ///< CONNECT is sent with each in turn
    uint32_t cookie_count, cookies_came, cookie_turn; ///< stored; received since HELLO; next
    uint64_t cookie_us;                               ///< when the first one came
    bool answered;                                    ///< a COOKIE came
    uint32_t requests; ///< sent since the last change between HELLO and CONNECT
    uint64_t sent_us;  ///< when the last request was sent, if any was
    uint64_t next_us;  ///< when the next request is due
    bool due;
    uint64_t rtt_us;       ///< of the shortest exchange; UINT64_MAX before the first
    bool version_received; ///< a VERSION came, and no COOKIE
    uint64_t version_us;   ///< when VERSION came
    uint64_t version_id;   ///< the protocol_id in it
    bool hinted;           ///< a DENY came that does not end the attempt
    struct hc_deny hint;   ///< the newest such DENY
    bool proven;           ///< the server proved that it sent this DENY
    uint64_t denied_us;    ///< added to the time of a first connection by such DENYs
};

/// The newest snapshot. Only world.c writes to it.
struct hc_cl_newest {
    bool any;
    struct hc_snapshot snapshot; ///< header of the newest snapshot
    bool has_chain;
    hc_tick final; ///< newest tick whose chain was received
    uint64_t chain;
};

/// The players' inputs. Only timing.c writes to them. They outlive a connection.
struct hc_cl_inputs {
    uint8_t pressed[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX]; ///< as the game set them, sanitized
    /// A ring by tick, see hc_cl_predict_stamped: without gaps, because DATA reads many ticks of
    /// it.
    uint8_t stamped[HC_CL_INPUTS * HC_OWN_PLAYERS_MAX * HC_INPUT_MAX];
};

/// How far the world and its inputs are predicted. Only timing.c writes to it.
struct hc_cl_prediction {
    uint64_t ticks; ///< predicted so far
    bool any;       ///< an input was stamped
    hc_tick next;   ///< the next stamp; those before it are in the ring
    uint8_t last[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX]; ///< stamped last; repeated into gaps
    uint64_t head_us;           ///< local time at which the timeline's head was due
    hc_tick stalled_target;     ///< tick up to which stalled ticks were counted
    hc_tick light_head;         ///< of a light client, which has no timeline
    uint32_t input_delay, lead; ///< the configured ones, limited to this server's future
};

/// The choice of the inputs to send, and the pace of DATA.
struct hc_cl_sending {
    bool due;           ///< a DATA is to be sent
    uint64_t due_us;    ///< when the last one became due by its pace
    uint64_t ticks;     ///< prediction.ticks when the last DATA became due
    hc_tick unsent;     ///< the oldest stamp that no datagram has carried yet
    hc_tick wanted;     ///< the oldest stamp that the server lacked when DATA was last sent
    uint64_t wanted_us; ///< when that stamp began to be the oldest lacking
};

/// The newest PATH_CHALLENGE.
struct hc_cl_path {
    bool due; ///< the PATH_CHALLENGE is to be answered
    uint8_t data[HC_PATH_SIZE];
};

/// The newest snapshot of a light client: its header and its forced inputs. Only skim.c writes to
/// it.
struct hc_cl_light {
    struct hc_cl_received snapshot;
    struct hc_snapshot_forced forced[HC_SNAPSHOT_FORCED_MAX];
    /// Own inputs that the server has forced: a bit for each place of the ring of inputs.
    uint64_t is_forced[HC_OWN_PLAYERS_MAX][HC_CL_INPUTS / 64];
};

/// The snapshots whose hash did not match. Only desync.c writes to it.
struct hc_cl_desync {
    uint64_t seen_us[HC_CL_DESYNC_MISMATCHES - 1]; ///< when the newest came, a ring
    uint32_t count;
    hc_tick as_of; ///< of the newest: an older or equal one does not count, it may be a copy
    /// The client asks the server for its values of the newest. Until the answer comes it decodes
    /// no other snapshot, because the reader holds that one.
    bool asks;
    uint64_t began_us; ///< when it began to ask
    uint64_t due_us;   ///< when the next COMPARE is due
    bool reported;
};

/// The newest outcomes of a connection that recent.c reports.
struct hc_cl_recent {
    uint32_t loss_up_ppm;
    uint32_t rollback_ticks;
};

/// Events that wait for hc_client_poll_event: a ring. Only session.c writes to it.
struct hc_cl_events {
    struct hc_client_event queue[HC_CL_EVENTS];
    uint32_t first, count;
};

struct hc_client {
    struct hc_client_config config;
    struct hc_client_stats stats;
    enum hc_client_state state;
    uint64_t begun_us;               ///< creation
    uint64_t lost_us;                ///< when the connection was lost, in HC_CLIENT_RECONNECTING
    struct hc_ratchet ratchet;       ///< draws nonces and ephemeral keys
    struct hc_credential credential; ///< to connect with: the configured one, or a ticket's
    struct hc_cl_events events;
    struct hc_events_channel messages; ///< reliable messages, which a resumed connection keeps
    struct hc_cl_handshake handshake;  ///< of handshake.c
    struct hc_connection connection;
    bool close_unanswered;                    ///< a CLOSE of the server is to be answered
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< the newest of this connection
    uint32_t ticket_seq; ///< of the DATA with its newest ticket; 0: none has come

    bool is_light; ///< without world, timeline, reader and interpolation
    struct hc_cl_light light;

    // Built by handshake.c from an ACCEPT, freed by hc_cl_session_free_world.
    struct hc_welcome welcome;
    struct hc_world world;
    struct hc_timeline *timeline;
    struct hc_cl_snapshot_reader *reader;
    struct hc_cl_interpolation interpolation;
    struct hc_cl_seen seen;
    void *interpolation_memory; ///< memory of `interpolation` and of `seen`
    size_t world_bytes;         ///< of all these

    // Reset by each ACCEPT.
    struct hc_cl_clock clock; ///< fed by receive.c
    struct hc_cl_newest newest;
    struct hc_cl_prediction prediction;
    struct hc_cl_display display; ///< fed by timing.c
    struct hc_cl_sending sending;
    struct hc_cl_path path;
    struct hc_cl_desync desync;
    struct hc_cl_recent recent;
    struct hc_cl_game_events game_events; ///< the queue outlives a connection

    struct hc_cl_inputs inputs;
    struct hc_body body; ///< of the ACCEPT or DATA that is being read
};

/// Microseconds from one tick to the next.
uint64_t hc_cl_session_interval_us(const struct hc_client *client);

/// Queues an event.
void hc_cl_session_event(struct hc_client *client, const struct hc_client_event *event);

/// Queues PLAYER_JOINED, PLAYER_LEFT or PLAYER_NAMED; drops it if many events were not polled.
/// `name` is copied; NULL: not known.
void hc_cl_session_player_event(struct hc_client *client, enum hc_client_event_kind kind,
                                hc_player player, hc_tick tick, const char *name);

/// Closes the session: the state is HC_CLIENT_CLOSED and `event` the last one.
void hc_cl_session_close(struct hc_client *client, const struct hc_client_event *event);

/// Closes the session with HC_CLIENT_EVENT_CLOSED.
void hc_cl_session_close_with(struct hc_client *client, enum hc_close_reason reason);

/// The connection is lost: reconnects after `wait_us`, or closes the session if it must not
/// reconnect.
void hc_cl_session_lose(struct hc_client *client, enum hc_client_loss loss, uint64_t wait_us,
                        uint64_t now_us);

/// Resimulates the changed ticks, and calls the game's hooks around it.
void hc_cl_session_resimulate(struct hc_client *client);

/// Counts datagrams of the client that were acked, and that were lost.
void hc_cl_recent_sent(struct hc_cl_recent *recent, uint32_t acked, uint32_t lost);

/// Frees the world and everything that depends on it.
void hc_cl_session_free_world(struct hc_client *client);

/// Writes a line to the game's log, if it has one.
void hc_cl_session_log(const struct hc_client *client, const char *line);

/// Draws an unpredictable number below `bound`, which is not 0.
uint32_t hc_cl_session_draw_below(struct hc_client *client, uint32_t bound);

/// The times shown at `now_us`; the timeline must be started.
struct hc_cl_interpolation_times hc_cl_session_shown(const struct hc_client *client,
                                                     uint64_t now_us);

/// Begins an attempt to connect at `now_us`.
void hc_cl_handshake_begin(struct hc_client *client, uint64_t now_us);

/// Receives a datagram that is not DATA. HC_OK or the reason of the refusal; then nothing changed.
enum hc_status hc_cl_handshake_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                       uint64_t now_us);

/// Whether an attempt to connect is going on.
bool hc_cl_handshake_active(const struct hc_client *client);

/// Makes HELLO or CONNECT due.
void hc_cl_handshake_advance(struct hc_client *client, uint64_t now_us);

/// When hc_cl_handshake_advance has something to do next.
uint64_t hc_cl_handshake_deadline(const struct hc_client *client);

/// Writes HELLO or CONNECT if due and returns its size, else 0.
size_t hc_cl_handshake_send(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                            uint64_t now_us);

/// Receives a DATA. HC_OK or the reason of the refusal; then nothing changed.
enum hc_status hc_cl_receive_data(struct hc_client *client, const uint8_t *bytes, size_t size,
                                  uint64_t now_us);

/// The prediction of a new connection to a server that takes inputs up to `future` ticks after its
/// head: it would refuse earlier ones until their tick comes near, or for good if they are sent
/// only a few times.
struct hc_cl_prediction hc_cl_predict_begin(const struct hc_client_config *config, uint32_t future);

/// Notes the snapshot decoded last, whose hash does not match. Several within a short time are a
/// desync: then the client asks the server for its values.
void hc_cl_desync_mismatch(struct hc_client *client, uint64_t now_us);

/// Appends COMPARE to a body while the client asks and one is due.
void hc_cl_desync_put(struct hc_client *client, struct hc_writer *body, uint64_t now_us);

/// Takes the server's values: tells the game where the world differs.
void hc_cl_desync_answer(struct hc_client *client, const struct hc_differs *differs,
                         uint64_t now_us);

/// Tells the game of a suspect when no answer has come for too long.
void hc_cl_desync_advance(struct hc_client *client, uint64_t now_us);

/// Copies an input of the game, cut to the range of its fields and sanitized.
void hc_cl_predict_set_input(struct hc_client *client, unsigned index, const void *input);

/// Predicts the ticks that are due, or stalls.
void hc_cl_predict_advance(struct hc_client *client, uint64_t now_us);

/// The timeline began anew: its head is due at `now_us`.
void hc_cl_predict_restart(struct hc_client *client, uint64_t now_us);

/// Predicts up to `tick`, which the server has reached, or to the prediction limit.
void hc_cl_predict_catch_up(struct hc_client *client, hc_tick tick, uint64_t now_us);

/// When the next tick is due, or the stall begins; UINT64_MAX when neither comes before the next
/// snapshot.
uint64_t hc_cl_predict_deadline(const struct hc_client *client);

/// The own input that was stamped with `tick`, if it is in the ring.
uint8_t *hc_cl_predict_stamped(struct hc_client *client, hc_tick tick, unsigned index);

/// The newest predicted tick.
hc_tick hc_cl_predict_head(const struct hc_client *client);

/// The oldest own input that the server can still use: those before are acked or refused.
hc_tick hc_cl_predict_wanted(const struct hc_client *client);

/// Reads the header and the forced inputs of the SNAPSHOT that is the present message of the body
/// to *snapshot, which has no values. `near` is a tick within 32767 of its server tick.
/// HC_MALFORMED.
enum hc_status hc_cl_light_read(struct hc_client *client, hc_tick near,
                                const struct hc_cl_received **snapshot);

/// Takes the snapshot that hc_cl_light_read returned last.
void hc_cl_light_take(struct hc_client *client, uint64_t now_us);

/// A light client has stamped its inputs with `tick`.
void hc_cl_light_stamped(struct hc_client *client, hc_tick tick);

/// Makes DATA due once per tick, and CLOSE.
void hc_cl_send_advance(struct hc_client *client, uint64_t now_us);

/// When hc_cl_send_advance has something to do next.
uint64_t hc_cl_send_deadline(const struct hc_client *client);

/// Writes DATA if due and returns its size, else 0.
size_t hc_cl_send_next(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                       uint64_t now_us);
