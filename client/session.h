/// The inside of a client, shared by the files that make it up: session (lifecycle, time and
/// questions), session_shake (the handshake), session_intake (what the server says),
/// session_predict (inputs and ticks ahead of the server) and session_send (what the server hears).
#pragma once

#include "client/clock.h"
#include "client/entropy.h"
#include "client/snapshot_reader.h"
#include "client/interpolation.h"
#include "common/timeline.h"
#include "hindcast/client.h"
#include "proto/ack.h"
#include "proto/body.h"
#include "proto/events.h"
#include "proto/message.h"
#include "proto/seal.h"
#include "proto/snapshot.h"
#include "proto/token.h"

enum {
    HC_CL_RETRY_US = 250000,        ///< between two HELLOs, or two CONNECTs
    HC_CL_COOKIE_LIFE_US = 2000000, ///< for which one is used: it may be for another address
    HC_CL_COOKIES = 8, ///< kept of those that came: anybody who sees HELLO can send one
    HC_CL_VERSION_WAIT_US = 600000,  ///< how long a COOKIE may still refute VERSION: two HELLOs
    HC_CL_KEEP_ALIVE_US = 100000,    ///< the longest time between two DATA
    HC_CL_AHEAD_US = 50000,          ///< ahead of its clock, at least 3 ticks, without saying so
    HC_CL_CLOSES = 10,               ///< times that CLOSE is said
    HC_CL_CLOSES_AT_ONCE = 3,        ///< of these
    HC_CL_CLOSE_INTERVAL_US = 50000, ///< between the others
    HC_CL_INPUTS = 1024,             ///< ticks of own inputs remembered
    HC_CL_EVENTS = 32,               ///< waiting to be polled; later ones are dropped but the last
    HC_CL_MARGIN = 16,               ///< ticks that the timeline keeps beyond what it must
    HC_CL_FUTURE_MIN = 64,           ///< ticks ahead of which inputs are taken, at least
    HC_CL_EVENTS_ROOM = HC_DATA_BODY_MAX / 2, ///< bytes of messages in one DATA: inputs go on
};

/// Keys are used for so many datagrams, and for so long.
#define HC_CL_RENEW_SEQ (UINT32_C(1) << 31)
#define HC_CL_RENEW_US (UINT64_C(24) * 3600 * 1000000)

/// The handshake so far.
struct hc_cl_handshake {
    uint64_t protocol_id;
    uint8_t nonce[HC_NONCE_SIZE];
    uint8_t secret[HC_EXCHANGE_KEY_SIZE]; ///< of the ephemeral key; zeros once it is of no use
    uint8_t key[HC_EXCHANGE_KEY_SIZE];    ///< public
    bool has_cookie;                      ///< CONNECT is being said, else HELLO
    struct hc_datagram_cookie cookies[HC_CL_COOKIES]; ///< CONNECT is said with each in turn
    uint32_t cookie_count, cookies_came, cookie_turn; ///< kept; since HELLO; whose turn it is
    uint64_t cookie_us;                               ///< when the first one came
    bool answered;                                    ///< some COOKIE has come
    uint32_t said;    ///< how often the present one of HELLO and CONNECT was said
    uint64_t sent_us; ///< when it was said last; meaningful if it was
    uint64_t next_us; ///< when it is due again
    bool due;
    uint64_t rtt_us;       ///< the least that an exchange took; UINT64_MAX before the first
    bool version_received; ///< the server seems to be of another build, and no COOKIE has come
    uint64_t version_us;   ///< since when
    bool hinted;           ///< a DENY came that does not end the attempt:
    struct hc_deny hint;   ///< the newest one, the reason if nothing else comes
    bool proven;           ///< it came from the server
};

/// What the newest snapshot said.
struct hc_cl_newest {
    bool any;
    struct hc_snapshot snapshot; ///< its head
    bool has_chain;
    hc_tick final; ///< newest of which the chain was told
    uint64_t chain;
};

/// The own inputs that were stamped.
struct hc_cl_inputs {
    uint8_t present[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX]; ///< as the game set them, sanitized
    uint8_t last[HC_OWN_PLAYERS_MAX][HC_INPUT_MAX];    ///< as stamped last; repeated into gaps
    bool any;                                          ///< something was stamped
    hc_tick next;       ///< the next stamp; those before it are in the ring
    hc_tick unsent;     ///< the oldest stamp that no datagram has carried yet
    hc_tick wanted;     ///< the oldest that the server does not have, when last sent,
    uint64_t wanted_us; ///< and since when that is so
    uint8_t ring[HC_CL_INPUTS][HC_OWN_PLAYERS_MAX][HC_INPUT_MAX]; ///< by tick
};

struct hc_client {
    struct hc_client_config config;
    enum hc_client_state state;
    struct hc_client_stats stats;
    uint64_t begun_us;    ///< creation
    uint64_t received_us; ///< when the newest valid DATA, or ACCEPT, came
    uint64_t lost_us;     ///< when the connection was lost, in HC_CLIENT_RECONNECTING
    struct hc_cl_handshake handshake;
    struct hc_ratchet ratchet;       ///< draws what must be foretold by nobody
    struct hc_credential credential; ///< to connect with: the configured one, or a ticket
    struct hc_events_out events_out;
    struct hc_events_in events_in;
    uint8_t *events_bytes; ///< of both

    struct hc_client_event events[HC_CL_EVENTS];
    uint32_t event_first, event_count;

    // From ACCEPT on.
    uint32_t cid; ///< 0: there has been no connection
    uint64_t accepted_us;
    struct hc_sealer sealer;
    uint8_t s2c[HC_SEAL_KEY_SIZE];
    uint8_t reset_token[HC_RESET_TOKEN_SIZE];
    size_t world_bytes; ///< that what follows takes
    struct hc_welcome welcome;
    struct hc_world world;
    struct hc_timeline *timeline;
    struct hc_cl_interpolation view;
    void *memory; ///< of the view
    struct hc_cl_snapshot_reader *reader;
    struct hc_replay replay;
    struct hc_sent sent;
    uint64_t newest_us; ///< when the datagram replay.newest came
    uint32_t measured;  ///< newest seq whose round trip has been measured

    // From the first snapshot on.
    struct hc_cl_clock clock;
    struct hc_cl_newest news;
    struct hc_cl_inputs inputs;
    uint64_t head_us;       ///< local time at which the timeline's head was due
    hc_tick stalled_target; ///< up to which stalled ticks have been counted

    // What is to be sent.
    bool data_due;
    bool ticked;      ///< a tick was predicted since the last DATA
    uint64_t data_us; ///< when the last DATA became due
    uint32_t closes_left, closes_due;
    uint64_t close_us; ///< when the next CLOSE becomes due

    bool path_due;                   ///< a PATH_CHALLENGE is to be answered
    uint8_t path[HC_PATH_SIZE];      ///< the newest one
    uint8_t opened[HC_DATAGRAM_MAX]; ///< the ACCEPT or DATA being read
    struct hc_body body;             ///< its body
};

/// Microseconds from one tick to the next.
uint64_t hc_cl_session_interval_us(const struct hc_client *client);

/// Puts an event into the queue.
void hc_cl_session_event(struct hc_client *client, const struct hc_client_event *event);

/// Ends it: the state is HC_CLIENT_CLOSED and `event` the last one.
void hc_cl_session_close(struct hc_client *client, const struct hc_client_event *event);

/// The connection is lost: makes it again, or ends the session where that is not wanted.
void hc_cl_session_lose(struct hc_client *client, enum hc_client_loss loss, uint64_t now_us);

/// The channel of messages begins anew, in both directions.
void hc_cl_session_begin_events(struct hc_client *client);

/// Gives back all that depends on the world.
void hc_cl_session_free_world(struct hc_client *client);

/// Hands a line to the game's log, if it has one.
void hc_cl_session_log(const struct hc_client *client, const char *line);

/// What is shown at `now_us`; the timeline must be started.
struct hc_cl_interpolation_time hc_cl_session_shown(const struct hc_client *client,
                                                    uint64_t now_us);

/// Begins at `now_us`.
void hc_cl_handshake_begin(struct hc_client *client, uint64_t now_us);

/// Takes a datagram that is not DATA. HC_OK or why it was refused; then nothing changed.
enum hc_status hc_cl_handshake_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                       uint64_t now_us);

/// Makes HELLO or CONNECT due.
void hc_cl_handshake_advance(struct hc_client *client, uint64_t now_us);

/// When hc_cl_handshake_advance has something to do next.
uint64_t hc_cl_handshake_deadline(const struct hc_client *client);

/// Writes HELLO or CONNECT if due and returns its size, else 0.
size_t hc_cl_handshake_send(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                            uint64_t now_us);

/// Takes a DATA. HC_OK or why it was refused; then nothing changed.
enum hc_status hc_cl_receive_data(struct hc_client *client, const uint8_t *bytes, size_t size,
                                  uint64_t now_us);

/// Copies an input of the game's, brought into what its fields hold and the game allows.
void hc_cl_predict_set_input(struct hc_client *client, unsigned index, const void *input);

/// Simulates the ticks that are due, or stalls.
void hc_cl_predict_advance(struct hc_client *client, uint64_t now_us);

/// Simulates up to `tick`, which the server has reached: as far as the prediction limit allows.
void hc_cl_predict_catch_up(struct hc_client *client, hc_tick tick, uint64_t now_us);

/// When the next tick is due, or the stall begins; UINT64_MAX when neither comes before the next
/// snapshot.
uint64_t hc_cl_predict_deadline(const struct hc_client *client);

/// The oldest own input that the server may still want: the ones before are acknowledged or
/// refused.
hc_tick hc_cl_predict_wanted(const struct hc_client *client);

/// Makes DATA due once per tick, and CLOSE.
void hc_cl_send_advance(struct hc_client *client, uint64_t now_us);

/// When hc_cl_send_advance has something to do next.
uint64_t hc_cl_send_deadline(const struct hc_client *client);

/// Writes DATA if due and returns its size, else 0.
size_t hc_cl_send_next(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                       uint64_t now_us);
