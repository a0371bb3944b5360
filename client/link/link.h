/// The link: a client's side of its connection to the server, without the world.
///
/// It connects, opens and seals DATA, keeps the own inputs until the server has them, estimates the
/// server's time, and carries the game's messages. Calls belong in this order:
///   1. hc_cl_link_init; hc_cl_link_connect;
///   2. when hc_cl_handshake_receive answers with an ACCEPT: hc_cl_link_begin;
///   3. for each DATA received: hc_cl_link_open; hc_cl_link_read for each of its messages that is
///      not of the world; hc_cl_link_accept; hc_cl_link_take_sensors, hc_cl_newest_take and
///      hc_cl_link_take_messages; or, after the server's CLOSE, hc_cl_link_receive_last alone;
///   4. for each DATA sent: hc_cl_link_begin_data, hc_cl_link_put_inputs, hc_cl_link_put_path,
///   other
///      messages, hc_cl_link_finish_data;
///   5. hc_cl_link_connect when the connection is lost: back to 2;
///   6. hc_cl_link_free.
#pragma once

#include "client/link/clock.h"
#include "client/link/handshake.h"
#include "client/link/inputs.h"
#include "client/link/losses.h"
#include "client/link/margin.h"
#include "client/link/newest.h"
#include "client/link/sending.h"
#include "client/link/skim.h"
#include "client/link/trend.h"
#include "hindcast/client.h"
#include "proto/body.h"
#include "proto/connection.h"
#include "proto/notice.h"

/// The newest PATH_CHALLENGE.
struct hc_cl_path {
    bool due; ///< The next DATA answers it.
    uint8_t data[HC_PATH_SIZE];
};

/// Only link.c writes to it, apart from the members that have a header of their own.
struct hc_cl_link {
    const struct hc_client_config *config; ///< borrowed
    struct hc_client_stats *stats;         ///< The counts of the client; borrowed.
    struct hc_reliable_channel
        messages; ///< The messages of the game; a resumed connection keeps them.
    struct hc_cl_handshake handshake;
    struct hc_connection connection;
    struct hc_welcome welcome;                ///< The WELCOME of this connection.
    bool close_unanswered;                    ///< A CLOSE of the server is to be answered.
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< The newest one of this connection.
    uint32_t ticket_seq; ///< The DATA with its newest ticket; 0: none has come.
    uint32_t notice;     ///< The number of the session's newest notice; 0: none has come.
    struct hc_cl_clock clock;
    struct hc_cl_trend trend;
    struct hc_cl_margin margin;
    struct hc_cl_newest newest;
    struct hc_cl_sending sending;
    struct hc_cl_path path;
    struct hc_cl_losses losses;
    struct hc_least
        arrivals; ///< How long snapshots take, by the server's stamps, and an unknown time.
    struct hc_cl_inputs inputs;
    struct hc_body body;          ///< The ACCEPT or DATA that is being read.
    struct hc_cl_skimmed skimmed; ///< The newest snapshot of a client without a world.
};

/// The messages of one DATA that are not of the world.
struct hc_cl_link_messages {
    bool has_close, has_ticket, has_path, has_events, has_unreliable, has_notice;
    struct hc_close close;
    struct hc_ticket ticket;
    uint8_t path[HC_PATH_SIZE];
    uint32_t notice_number;
    struct hc_notice notice;
};

/// The prediction of a client, as each INPUT reports it.
struct hc_cl_input_report {
    hc_tick client_tick;     ///< The client predicts this tick now.
    uint32_t display_offset; ///< Nothing is shown farther behind, in ticks.
};

/// Sets configuration and counts, which are borrowed, and allocates. The configuration has its
/// entropy and rule hash. False: memory is short; hc_cl_link_free frees the allocated part.
bool hc_cl_link_init(struct hc_cl_link *link, const struct hc_client_config *config,
                     struct hc_client_stats *stats, uint64_t now_us);

/// Frees its memory.
void hc_cl_link_free(struct hc_cl_link *link);

/// Begins an attempt to connect at `begin_us`, which is `now_us` or later. A connection that goes
/// on is over for this end.
void hc_cl_link_connect(struct hc_cl_link *link, uint64_t begin_us, uint64_t now_us);

/// Whether an attempt to connect goes on.
bool hc_cl_link_connects(const struct hc_cl_link *link);

/// Begins the connection of an ACCEPT, without anything of an earlier one but the pressed inputs,
/// and erases the keys of the answer. The messages of a session that is not resumed begin anew.
void hc_cl_link_begin(struct hc_cl_link *link, struct hc_cl_answer *answer, uint64_t now_us);

/// Checks a RESET: the server does not know the connection. HC_OK: the server sent it, as its token
/// proves. HC_UNEXPECTED: it is of another connection, or this one closes already.
enum hc_status hc_cl_link_check_reset(const struct hc_cl_link *link, const uint8_t *bytes,
                                      size_t size);

/// Opens a DATA of `size` bytes into `opened`, see hc_connection_open.
enum hc_status hc_cl_link_open(const struct hc_cl_link *link, const uint8_t *bytes, size_t size,
                               uint8_t opened[static HC_DATAGRAM_MAX], struct hc_data *data);

/// Takes a DATA after the server has closed the connection: only another CLOSE has an effect, since
/// the answer before may be lost.
enum hc_status hc_cl_link_receive_last(struct hc_cl_link *link, const struct hc_data *data,
                                       uint64_t now_us);

/// Reads the present message of `body`, which is not of the world, and changes nothing else.
/// HC_OK or the reason of the refusal; HC_MALFORMED also for messages that only clients send.
enum hc_status hc_cl_link_read(struct hc_cl_link *link, enum hc_message_type type,
                               struct hc_cl_link_messages *messages);

/// Takes seq and acks of a DATA whose messages were all read, see hc_connection_accept.
enum hc_status hc_cl_link_accept(struct hc_cl_link *link, const struct hc_data *data,
                                 uint64_t now_us, struct hc_accepted *accepted);

/// Updates clock, round trips and the margin from a snapshot that was not overtaken, before it
/// becomes the newest.
void hc_cl_link_take_sensors(struct hc_cl_link *link, const struct hc_snapshot *header,
                             const struct hc_accepted *accepted, uint64_t now_us);

/// Takes the messages of the DATA `seq`, all but CLOSE. True: it has the first PATH_CHALLENGE to a
/// new address of the client.
bool hc_cl_link_take_messages(struct hc_cl_link *link, const struct hc_cl_link_messages *messages,
                              uint32_t seq);

/// Takes the number of a notice; true: it comes for the first time.
bool hc_cl_link_take_notice(struct hc_cl_link *link, uint32_t number);

/// Takes a CLOSE, which the next datagram answers.
void hc_cl_link_take_close(struct hc_cl_link *link, const struct hc_close *close);

/// Writes the answer to the CLOSE; returns its size, 0: no seq is left.
size_t hc_cl_link_answer_close(struct hc_cl_link *link, uint8_t out[static HC_DATAGRAM_MAX],
                               uint64_t now_us);

/// The server tick near which the next snapshot is.
hc_tick hc_cl_link_near(const struct hc_cl_link *link);

/// Reads the beginning of the SNAPSHOT that is the present message of `body` to `skimmed`, for a
/// client without a world. HC_MALFORMED.
enum hc_status hc_cl_link_skim(struct hc_cl_link *link);

/// When hc_cl_link_advance makes the next DATA due.
uint64_t hc_cl_link_deadline(const struct hc_cl_link *link, const struct hc_cl_pace *pace);

/// Makes DATA due by its pace, or to keep the connection alive.
void hc_cl_link_advance(struct hc_cl_link *link, const struct hc_cl_pace *pace, uint64_t now_us);

/// Appends INPUT to a body with as many of the chosen inputs as fit into all but `reserved` bytes
/// of its room, which other messages need.
void hc_cl_link_put_inputs(struct hc_cl_link *link, struct hc_writer *body, size_t reserved,
                           const struct hc_cl_input_report *report, uint64_t now_us);

/// Appends PATH_RESPONSE if it is due.
void hc_cl_link_put_path(struct hc_cl_link *link, struct hc_writer *body);

/// The bytes that the answer to a PATH_CHALLENGE takes, 0: none is due; and with `messages` those
/// that messages of the game may take.
size_t hc_cl_link_reserve(const struct hc_cl_link *link, bool messages);

/// Bytes of the body of a DATA that is due and has `*reserved` bytes for other messages than
/// inputs, of which a congested path leaves enough for one; 0: the DATA is held back, because the
/// path is congested. The answer to a PATH_CHALLENGE is not.
size_t hc_cl_link_room(struct hc_cl_link *link, size_t *reserved, uint64_t now_us);

/// Appends messages of the game, and seals the DATA in `out`, whose body is `body`. Returns its
/// size; 0: no seq is left.
size_t hc_cl_link_finish_data(struct hc_cl_link *link, struct hc_writer *body,
                              uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);
