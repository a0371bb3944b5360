/// The internals of a host, shared by its files: host (lifecycle, datagrams), ticks, sessions (of
/// clients and players), events (for the program), handshake, receive (DATA), path (addresses),
/// send (tickets, messages) and users (kicked, refused, admitted).
#pragma once

#include "common/unix_time.h"
#include "hindcast/check.h"
#include "proto/name.h"
#include "proto/ratchet.h"
#include "server/clients.h"
#include "server/forged.h"
#include "server/host.h"
#include "server/address_limit.h"
#include "server/refused_clients.h"
#include "server/outbox.h"
#include "server/program.h"
#include "server/replication/replicator.h"
#include "server/schedule.h"
#include "server/spent_tokens.h"

enum {
    HC_SV_RESETS_US = 50000, ///< the burst of all RESETs
};

struct hc_sv_host {
    struct hc_server_config config; ///< without its secret
    struct hc_sv_host_test test;
    struct hc_world world;
    struct hc_timeline *timeline;
    struct hc_server_stats stats;
    struct hc_cookie_jar jar;
    struct hc_ratchet ratchet; ///< draws cids, nonces, tickets and ephemeral keys
    uint64_t protocol_id;
    struct hc_sv_schedule schedule;
    struct hc_unix_time unix_time;
    uint64_t resets_us; ///< the end of all RESETs so far at the allowed rate
    struct hc_sv_address_limit reset_rate;
    bool shutting_down;
    uint32_t restart_ms; ///< while it shuts down: until it is back; 0: never

    struct hc_sv_secrets secrets;
    struct hc_sv_replicator replicator;

    struct hc_sv_clients clients;
    struct hc_sv_outbox outbox;
    struct hc_sv_program program;
    struct hc_sv_address_limit rate;
    struct hc_sv_spent spent;
    uint8_t *spent_memory;
    struct hc_sv_refused refused;
    struct hc_sv_forged forged;
    struct hc_sv_overload overload;
    uint64_t noted_steps, noted_resimulated; ///< of the timeline, when work was last noted
    uint64_t arrived_us;                     ///< newest arrival of a DATA that names a client
    uint8_t opened[HC_DATAGRAM_MAX];         ///< the DATA being read
    struct hc_body body;                     ///< body of that DATA
};

/// The side that ends a session, and how the other one learns of it.
enum hc_sv_ending {
    HC_SV_END_SENT,     ///< the server, which sends CLOSE
    HC_SV_END_SILENT,   ///< the server, because there is no connection
    HC_SV_END_CLOSED,   ///< the client, which sent CLOSE
    HC_SV_END_REPLACED, ///< the client, which begins another session
};

/// Begins a tick for the sessions: ends those of silent clients, and stamps the joins and leaves of
/// players.
void hc_sv_host_tick_sessions(struct hc_sv_host *host, uint64_t now_us);

/// Ends a session: its players leave at the next tick.
void hc_sv_host_drop(struct hc_sv_host *host, struct hc_sv_peer *peer,
                     enum hc_server_event_kind kind, enum hc_sv_ending ending,
                     const struct hc_close *close, uint64_t now_us);

/// The connection of a client is lost: the client lingers, or is dropped.
void hc_sv_host_lose(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us);

/// Draws `size` unpredictable bytes, at most HC_RATCHET_SIZE.
void hc_sv_host_unpredictable(struct hc_sv_host *host, uint8_t *out, size_t size);

/// The peer's late limit, ticks.
uint32_t hc_sv_host_late_limit(const struct hc_sv_host *host, const struct hc_sv_peer *peer);

/// Unix time in microseconds.
uint64_t hc_sv_host_unix_us(const struct hc_sv_host *host, uint64_t now_us);

/// Unix time in seconds.
uint64_t hc_sv_host_unix_s(const struct hc_sv_host *host, uint64_t now_us);

/// Queues a RESET for a DATA of an unknown connection, if the limits allow one.
void hc_sv_handshake_reset(struct hc_sv_host *host, const struct hc_address *from, uint32_t cid,
                           uint32_t seq, uint64_t now_us);

/// Writes the peer's next DATA without a snapshot, and its destination; returns its size, 0: none
/// is due.
size_t hc_sv_send_messages(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_address *to,
                           uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// Answers HELLO and CONNECT. HC_OK or the cause of the refusal. `denied`: a CONNECT is denied for
/// this reason of the program's, unless there is another one; 0: it is not.
enum hc_status hc_sv_handshake_receive(struct hc_sv_host *host, const struct hc_address *from,
                                       const uint8_t *bytes, size_t size,
                                       enum hc_deny_reason denied, uint64_t now_us);

/// Takes a DATA of a client. HC_OK or the cause of the refusal; then nothing changed.
enum hc_status hc_sv_receive_data(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us);

/// Forces the unknown inputs of a peer's player before the tick `before`, counts them and records
/// them for the peer's snapshots.
void hc_sv_receive_force(struct hc_sv_host *host, struct hc_sv_peer *peer, hc_player player,
                         hc_tick before);

/// Answers a client that asks where its world differs, with its next DATA, if it may.
void hc_sv_desync_ask(struct hc_sv_host *host, struct hc_sv_peer *peer,
                      const struct hc_compare *compare);

/// Appends the answer to the peer's next DATA, if one is due.
void hc_sv_desync_put(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_writer *body);

/// The difference that a client's CLOSE names. The server's value is the one that it answered with:
/// the client is believed in nothing but what it says of itself.
struct hc_difference hc_sv_desync_difference(const struct hc_sv_host *host,
                                             const struct hc_sv_peer *peer,
                                             const struct hc_close_desync *close);

/// Whether a name of a token is empty or can be shown.
bool hc_sv_users_name_is_valid(const uint8_t name[static HC_NAME_MAX]);

/// The game's decision about the user of a token, see hc_server_config.admit; 0 admits it.
enum hc_deny_reason hc_sv_users_admit(const struct hc_sv_host *host, const struct hc_token *token,
                                      const struct hc_address *from);
