/// Owns what waits for a worker.
#include "server/daemon/mailbox.h"

#include <sodium.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

// ---- Refused users ------------------------------------------------------------------------------

struct hc_sv_refused_users *hc_sv_refused_users_create(const struct hc_sv_refused_file *file,
                                                       unsigned holders) {
    struct hc_sv_refused_users *users = malloc(sizeof(*users));
    if (users == NULL)
        return NULL;
    atomic_init(&users->holders, holders);
    users->file = *file;
    return users;
}

void hc_sv_refused_users_release(struct hc_sv_refused_users *users) {
    if (users != NULL && atomic_fetch_sub(&users->holders, 1) == 1)
        free(users);
}

// ---- The mailbox --------------------------------------------------------------------------------

bool hc_sv_mailbox_open(struct hc_sv_mailbox *box) {
    pthread_mutex_init(&box->lock, NULL);
    box->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return box->wake >= 0;
}

void hc_sv_mailbox_close(struct hc_sv_mailbox *box) {
    hc_sv_refused_users_release(box->orders.refused);
    sodium_memzero(&box->orders, sizeof(box->orders));
    if (box->wake > 0) // 0 is standard input
        close(box->wake);
    pthread_mutex_destroy(&box->lock);
}

void hc_sv_mailbox_wake(struct hc_sv_mailbox *box) {
    uint64_t one = 1;
    ssize_t size = write(box->wake, &one, sizeof(one));
    (void)size; // it only fails if the worker is woken anyway
}

void hc_sv_mailbox_order(struct hc_sv_mailbox *box, const struct hc_sv_orders *orders) {
    struct hc_sv_orders *all = &box->orders;
    struct hc_sv_refused_users *replaced = NULL;
    pthread_mutex_lock(&box->lock);
    if (orders->stop && !all->stop) {
        all->restarts = orders->restarts;
        all->restart_s = orders->restart_s;
    }
    all->stop |= orders->stop;
    all->new_keys |= orders->new_keys;
    if (orders->new_keys)
        all->keys = orders->keys;
    all->new_settings |= orders->new_settings;
    if (orders->new_settings)
        all->settings = orders->settings;
    if (orders->refused != NULL) {
        replaced = all->refused;
        all->refused = orders->refused;
    }
    if (orders->publish != 0)
        all->publish = orders->publish;
    pthread_mutex_unlock(&box->lock);
    hc_sv_refused_users_release(replaced);
    hc_sv_mailbox_wake(box);
}

bool hc_sv_mailbox_kick(struct hc_sv_mailbox *box, const struct hc_sv_kick *kick) {
    struct hc_sv_orders *all = &box->orders;
    pthread_mutex_lock(&box->lock);
    bool fits = all->kick_count < HC_SV_MAILBOX_KICKS;
    if (fits)
        all->kicks[all->kick_count++] = *kick;
    pthread_mutex_unlock(&box->lock);
    if (fits)
        hc_sv_mailbox_wake(box);
    return fits;
}

bool hc_sv_mailbox_announce(struct hc_sv_mailbox *box, const struct hc_sv_announcement *order) {
    struct hc_sv_orders *all = &box->orders;
    pthread_mutex_lock(&box->lock);
    bool fits = all->announcement_count < HC_SV_MAILBOX_NOTICES;
    if (fits)
        all->announcements[all->announcement_count++] = *order;
    pthread_mutex_unlock(&box->lock);
    if (fits)
        hc_sv_mailbox_wake(box);
    return fits;
}

struct hc_sv_orders hc_sv_mailbox_take_orders(struct hc_sv_mailbox *box) {
    pthread_mutex_lock(&box->lock);
    struct hc_sv_orders orders = box->orders;
    sodium_memzero(&box->orders, sizeof(box->orders));
    pthread_mutex_unlock(&box->lock);
    return orders;
}

bool hc_sv_mailbox_put(struct hc_sv_mailbox *box, const struct hc_sv_mail *mail) {
    pthread_mutex_lock(&box->lock);
    bool fits = box->count < HC_SV_MAILBOX_CONNECTS;
    if (fits)
        box->connects[(box->first + box->count++) % HC_SV_MAILBOX_CONNECTS] = *mail;
    pthread_mutex_unlock(&box->lock);
    if (fits)
        hc_sv_mailbox_wake(box);
    return fits;
}

bool hc_sv_mailbox_take(struct hc_sv_mailbox *box, struct hc_sv_mail *mail) {
    pthread_mutex_lock(&box->lock);
    bool any = box->count > 0;
    if (any) {
        *mail = box->connects[box->first];
        box->first = (box->first + 1) % HC_SV_MAILBOX_CONNECTS;
        box->count--;
    }
    pthread_mutex_unlock(&box->lock);
    return any;
}
