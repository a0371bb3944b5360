/// The mailbox of a worker: orders of the control thread, and CONNECTs that other workers have
/// received for its matches. Any thread may put something into it, and waits for nobody; the worker
/// takes it out when its loop has been woken.
///
/// Orders of one kind do not queue: a newer one replaces one that was not taken yet, or joins it.
/// So a worker that takes none fills no memory.
#pragma once

#include "hindcast/address.h"
#include "hindcast/notice.h"
#include "proto/datagram.h"
#include "proto/token.h"
#include "server/daemon/options.h"
#include "server/daemon/refused_file.h"
#include "server/matches/placement.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    HC_SV_MAILBOX_CONNECTS = 64, ///< that wait for a worker; one more is dropped
    HC_SV_MAILBOX_KICKS = 64,    ///< that wait for a worker
    HC_SV_MAILBOX_NOTICES = 16,  ///< that wait for a worker
};

/// A CONNECT that another worker received.
struct hc_sv_mail {
    struct hc_address from;
    uint64_t arrived_us;
    struct hc_sv_placed placed;
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
};

/// Refused users that several workers read.
struct hc_sv_refused_users {
    atomic_uint holders;
    struct hc_sv_refused_file file;
};

/// A copy of `file` that so many hold; NULL: no memory.
struct hc_sv_refused_users *hc_sv_refused_users_create(const struct hc_sv_refused_file *file,
                                                       unsigned holders);

/// Ends the hold of one; the last frees them. NULL is allowed.
void hc_sv_refused_users_release(struct hc_sv_refused_users *users);

/// A client whose session is to end.
struct hc_sv_kick {
    uint16_t match;
    uint32_t cid;
};

/// A notice for clients of a worker.
struct hc_sv_announcement {
    uint16_t match; ///< 0: all of the worker's
    uint32_t cid;   ///< of one client of that match; 0: all
    struct hc_notice notice;
};

/// The orders of a worker. All zeros: none.
struct hc_sv_orders {
    bool stop, restarts;                 ///< to close all connections; the clients come back
    uint32_t restart_s;                  ///< seconds after which they do
    bool new_keys;                       ///< to accept tokens of `keys` from now on
    struct hc_token_ring keys;           ///< of `new_keys`
    struct hc_sv_refused_users *refused; ///< to refuse these users, held; NULL: as before
    bool new_settings;                   ///< to play with `settings` from now on
    struct hc_sv_play_settings settings; ///< of `new_settings`
    unsigned kick_count;                 ///< clients to kick
    struct hc_sv_kick kicks[HC_SV_MAILBOX_KICKS];                   ///< [kick_count]
    unsigned announcement_count;                                    ///< notices to give
    struct hc_sv_announcement announcements[HC_SV_MAILBOX_NOTICES]; ///< [announcement_count]
    uint64_t publish; ///< to publish all counts, as answer to this number; 0: no
};

struct hc_sv_mailbox {
    int wake; ///< an eventfd, readable when there is something; -1: none
    pthread_mutex_t lock;
    unsigned first, count;
    struct hc_sv_mail connects[HC_SV_MAILBOX_CONNECTS];
    struct hc_sv_orders orders;
};

/// Opens a mailbox; false: no descriptors.
bool hc_sv_mailbox_open(struct hc_sv_mailbox *box);

/// Frees what it holds; one that is all zeros is allowed.
void hc_sv_mailbox_close(struct hc_sv_mailbox *box);

/// Wakes the worker's loop.
void hc_sv_mailbox_wake(struct hc_sv_mailbox *box);

/// Adds orders and wakes the worker. It holds `orders->refused` from now on.
void hc_sv_mailbox_order(struct hc_sv_mailbox *box, const struct hc_sv_orders *orders);

/// Adds an order to kick a client, and wakes the worker; false: too many wait.
bool hc_sv_mailbox_kick(struct hc_sv_mailbox *box, const struct hc_sv_kick *kick);

/// Adds an order to send clients a notice, and wakes the worker; false: too many wait.
bool hc_sv_mailbox_announce(struct hc_sv_mailbox *box, const struct hc_sv_announcement *order);

/// Takes all orders; the caller releases `refused`, and erases `keys`.
struct hc_sv_orders hc_sv_mailbox_take_orders(struct hc_sv_mailbox *box);

/// Adds a CONNECT and wakes the worker; false: too many wait.
bool hc_sv_mailbox_put(struct hc_sv_mailbox *box, const struct hc_sv_mail *mail);

/// Takes the oldest CONNECT; false: there is none.
bool hc_sv_mailbox_take(struct hc_sv_mailbox *box, struct hc_sv_mail *mail);
