/// Owns which match each datagram goes to.
#include "server/daemon/routing.h"

#include "server/daemon/wall_clock.h"

#include <string.h>

/// Whether match `number` exists and is of this worker.
static bool is_own(const struct hc_sv_worker *worker, unsigned number) {
    const struct hc_sv_options *options = worker->setting->options;
    return number >= 1 && number <= options->matches &&
           hc_sv_worker_of(number, options->workers) == worker->index;
}

/// The worker's match `number`; NULL: it is not of this worker, does not exist, or is away.
static struct hc_sv_match *find_match(struct hc_sv_worker *worker, unsigned number) {
    if (!is_own(worker, number))
        return NULL;
    struct hc_sv_match *match = hc_sv_worker_match(worker->all, number);
    return match->away ? NULL : match;
}

// ---- Placement ----------------------------------------------------------------------------------

/// Chooses the match of a CONNECT whose token names none of the daemon's, see
/// hc_sv_placement_choose.
static void place(struct hc_sv_worker *worker, const struct hc_sv_datagram *datagram,
                  struct hc_sv_placed *placed) {
    const struct hc_sv_match_setting *setting = worker->setting;
    pthread_mutex_lock(setting->placement_lock);
    hc_sv_placement_choose(setting->placement, &datagram->from, datagram->bytes, datagram->size,
                           hc_sv_wall_clock_bounded_us(setting->wall_clock), datagram->arrived_us,
                           placed);
    pthread_mutex_unlock(setting->placement_lock);
}

/// Ends the choice of a match, see hc_sv_placement_finish.
static void finish_placement(struct hc_sv_worker *worker, const struct hc_sv_placed *placed) {
    pthread_mutex_lock(worker->setting->placement_lock);
    hc_sv_placement_finish(worker->setting->placement, placed);
    pthread_mutex_unlock(worker->setting->placement_lock);
}

/// Gives a CONNECT of another worker's match to that worker.
static void send_mail(struct hc_sv_worker *worker, const struct hc_sv_datagram *datagram,
                      const struct hc_sv_placed *placed) {
    unsigned workers = worker->setting->options->workers;
    struct hc_sv_worker *other = &worker->all[hc_sv_worker_of(placed->match, workers)];
    struct hc_sv_mail mail = {
        .from = datagram->from, .arrived_us = datagram->arrived_us, .placed = *placed};
    memcpy(mail.bytes, datagram->bytes, sizeof(mail.bytes));
    if (!hc_sv_mailbox_put(&other->mailbox, &mail))
        finish_placement(worker, placed); // nobody has admitted it
}

void hc_sv_routing_receive_placed(struct hc_sv_worker *worker,
                                  const struct hc_sv_datagram *datagram,
                                  struct hc_sv_placed *placed) {
    struct hc_sv_match *match = placed->match != 0 ? find_match(worker, placed->match)
                                                   : hc_sv_worker_next_match(worker, NULL);
    if (match != NULL) { // otherwise it is away, and the client tries again
        (void)hc_sv_match_receive_placed(match, datagram, placed);
        hc_sv_match_log_events(match);
    }
    finish_placement(worker, placed);
}

/// Gives a CONNECT whose token names none of the daemon's matches to the one that the placement
/// chooses.
static void place_connect(struct hc_sv_worker *worker, const struct hc_sv_datagram *datagram) {
    struct hc_sv_placed placed;
    place(worker, datagram, &placed);
    if (placed.match == 0 || is_own(worker, placed.match))
        hc_sv_routing_receive_placed(worker, datagram, &placed);
    else
        send_mail(worker, datagram, &placed);
}

/// The match that a DATA or a CONNECT names; 0: none of the daemon's. All are of the only match.
static uint16_t named_by(const struct hc_sv_worker *worker, const struct hc_sv_datagram *datagram) {
    const struct hc_sv_match_setting *setting = worker->setting;
    if (setting->placement == NULL)
        return 1;
    return hc_sv_placement_named(setting->options->matches, datagram->bytes, datagram->size);
}

void hc_sv_routing_receive(struct hc_sv_worker *worker, const struct hc_sv_datagram *datagram) {
    enum hc_datagram_kind kind = hc_datagram_kind(datagram->bytes, datagram->size);
    uint16_t named = named_by(worker, datagram);
    if (kind == HC_DATAGRAM_CONNECT && named == 0) {
        place_connect(worker, datagram);
        return;
    }
    struct hc_sv_match *match =
        named == 0 ? hc_sv_worker_next_match(worker, NULL) : find_match(worker, named);
    if (match == NULL)
        return; // it is away, or this is a broadcast: the match's worker has its own copy
    enum hc_status status = hc_sv_match_receive(match, datagram);
    match->accepted += status == HC_OK && kind == HC_DATAGRAM_DATA;
    if (kind == HC_DATAGRAM_CONNECT)
        hc_sv_match_log_events(match); // the placement knows the session before the next CONNECT
}
