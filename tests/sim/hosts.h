/// The hosts of a simulation: one with a world, or the matches of a port, as hindcastd has them.
///
/// Of several matches, one without clients is idle: it has a world, but no ticks. Some time after
/// its last client has gone it gets another world; used tokens stay used.
///
/// Calls for a datagram belong in this order: hc_sim_hosts_choose, hc_sim_hosts_give,
/// hc_sim_hosts_noted after the host's events were read, hc_sim_hosts_finish.
#pragma once

#include "server/host.h"
#include "server/matches/placement.h"

enum {
    HC_SIM_MATCHES_MAX = 8,
};

/// The host's clock at the beginning: no core may count on 0, and a test may set it back by hours.
#define HC_SIM_HOST_EPOCH_US UINT64_C(10000000000)

struct hc_sim_host {
    struct hc_server *core; ///< NULL: none
    hc_tick head;           ///< newest tick that the simulation has seen
    uint64_t empty_us;      ///< time when the last client went; 0: there is one, or none came
    bool idle;              ///< the match waits for its first client
    uint64_t wakes_us;      ///< the program waits until then at the latest; 0: for the deadline
};

struct hc_sim_hosts {
    struct hc_server_config *config; ///< configuration of each; match, seed and secrets are drawn
    const struct hc_sv_host_test *test;
    uint64_t seed;   ///< seed of all worlds
    uint32_t worlds; ///< worlds made so far
    unsigned count;
    int64_t set_us; ///< by so much the host's clock was set ahead since the beginning
    struct hc_sim_host all[HC_SIM_MATCHES_MAX];
    struct hc_sv_placement *placement; ///< NULL: there is one world
    uint8_t secret[HC_SERVER_SECRET_SIZE], cookie_secret[HC_SERVER_SECRET_SIZE];
};

/// The hosts' clock at `now_us` of the simulation.
uint64_t hc_sim_hosts_clock(const struct hc_sim_hosts *hosts, uint64_t now_us);

/// Sets it by `by_us`. A program that waits for a deadline still wakes when that would have come.
void hc_sim_hosts_set_clock(struct hc_sim_hosts *hosts, int64_t by_us);

/// Makes one world (`matches` 0), or so many matches, at `now_us` of the simulation. False: an
/// invalid configuration or no memory.
bool hc_sim_hosts_open(struct hc_sim_hosts *hosts, unsigned matches, uint64_t now_us);

/// Frees them and sends nothing. They may be opened again.
void hc_sim_hosts_close(struct hc_sim_hosts *hosts);

/// The place of the host that a datagram goes to. Of a CONNECT, `*placed` is the choice.
unsigned hc_sim_hosts_choose(struct hc_sim_hosts *hosts, const struct hc_address *from,
                             const uint8_t *bytes, size_t size, uint64_t now_us,
                             struct hc_sv_placed *placed);

/// Gives the datagram, which arrives at `at_us` of the simulation, to the host at `place`; a
/// CONNECT starts the ticks of an idle one.
enum hc_status hc_sim_hosts_give(struct hc_sim_hosts *hosts, unsigned place,
                                 const struct hc_address *from, const uint8_t *bytes, size_t size,
                                 uint64_t at_us, struct hc_sv_placed *placed);

/// The events of the host at `place` were read: the placement gets its sessions.
void hc_sim_hosts_noted(struct hc_sim_hosts *hosts, unsigned place, uint64_t now_us);

/// Ends a choice.
void hc_sim_hosts_finish(struct hc_sim_hosts *hosts, const struct hc_sv_placed *placed);

/// The host's next deadline, by the simulation's clock; UINT64_MAX: none.
uint64_t hc_sim_hosts_deadline(const struct hc_sim_hosts *hosts, unsigned place);

/// Gives the match at `place` another world, if its last client went a while ago. False: no memory,
/// and the simulation can only be destroyed.
bool hc_sim_hosts_renew(struct hc_sim_hosts *hosts, unsigned place, uint64_t now_us);
