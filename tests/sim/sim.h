/// The simulator: one server, its clients and their links in one process and in virtual time.
///
/// Time jumps from one deadline to the next, so that a minute of play takes as long as its work.
/// Everything random is drawn from one seed: the same configuration and the same calls give the
/// same history, datagram by datagram, which hc_sim_trace sums up. Calls belong in this order:
///   1. hc_sim_config_default, and changes to it; hc_sim_create;
///   2. hc_sim_setup, before a client connects that differs from the others;
///   3. hc_sim_connect, hc_sim_leave, hc_sim_kill, hc_sim_rebind, hc_sim_set_link,
///      hc_sim_freeze_host, hc_sim_restart_host, hc_sim_freeze_client, hc_sim_jump,
///      hc_sim_inject: what happens now;
///   4. hc_sim_run_until; back to 2;
///   5. hc_sim_destroy.
/// Times are microseconds since the simulation's beginning. A client is a number in [0, clients);
/// its address is 127.0.0.1 with a port of its own, 1024 or above, another one at each connect.
/// Below that are strangers, in whose name a test may hand the host something; what it answers them
/// is dropped. Nothing is allocated but by 1, hc_sim_connect, and a client that is accepted.
///
/// The simulator issues the tokens, so it reads along: the hooks are shown ACCEPT and DATA as they
/// were before they were sealed, with zeros for the tag, unless they are sealed wrongly.
#pragma once

#include "common/network_sim.h"
#include "hindcast/client.h"
#include "server/host.h"
#include "tests/sim/party.h"

struct hc_sim;

/// What a host is asked to do.
enum hc_sim_work { HC_SIM_WORK_RECEIVE, HC_SIM_WORK_ADVANCE, HC_SIM_WORK_SEND, HC_SIM_WORKS };

/// What looks at the simulation and plays its parts; each may be NULL. None of these may call a
/// function of 1, 4 or 5, but those of 3 they may, except that a client does not kill itself.
struct hc_sim_hooks {
    /// What local player `index` of `client` does: writes its input (zeroed, input_size bytes).
    /// Called before each advance of a client that plays; `tick` is its predicted head.
    void (*script)(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input);
    /// The host begins to do something, or has done it: for those who take its time.
    void (*host_works)(void *context, enum hc_sim_work work, bool begins);
    /// The host is about to advance.
    void (*host_advances)(void *context, struct hc_sim *sim);
    /// The host has advanced its head, nearly always by one tick. Its events have been told before.
    void (*host_ticked)(void *context, struct hc_sim *sim);
    /// A client has received a datagram or has advanced.
    void (*client_changed)(void *context, struct hc_sim *sim, unsigned client);
    /// A client was handed a datagram and answered `status`; before client_changed.
    void (*client_received)(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status);
    /// The host was handed a datagram from `port` off the uplink of `client` and answered `status`;
    /// what it raised has been told, what it has to say has not been sent.
    void (*host_received)(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status);
    /// The host sends a datagram to `client`, at hc_sim_port; before the link decides about it.
    /// What goes to two addresses is told twice.
    void (*host_sent)(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size);
    /// The host sends a datagram, as it is on the wire, to a port that is no client's.
    void (*stranger_sent)(void *context, struct hc_sim *sim, uint16_t port, const uint8_t *bytes,
                          size_t size);
    /// A client is about to send a datagram, whose bytes may be changed, and are sealed again then;
    /// false: it is not sent.
    bool (*tamper)(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes, size_t size);
    /// A client sends a datagram; before the link decides about it.
    void (*client_sent)(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size);
    void (*host_event)(void *context, struct hc_sim *sim, const struct hc_sv_event *event);
    void (*client_event)(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event);
};

struct hc_sim_config {
    /// The host's; its seed, secret and keys are drawn.
    struct hc_sv_host_config host;
    /// Of every client, where hc_sim_setup says nothing else; its entropy is drawn at each connect.
    struct hc_client_config client;
    unsigned clients;                      ///< that may connect, [1, HC_SV_CLIENTS_MAX]
    struct hc_network_sim_config up, down; ///< client to server, server to client, at the beginning
    uint32_t packets_max;                  ///< in flight on each link
    uint64_t seed;
    /// Adds the hash of each client's world at each tick to the trace; dear with many clients.
    bool trace_worlds;
    const struct hc_allocator *allocator; ///< of everything large that is the simulation's own
    struct hc_sim_hooks hooks;
    void *context; ///< handed to the hooks
};

/// What is a client's own.
struct hc_sim_setup {
    struct hc_client_config config;
    uint64_t clock_offset_us; ///< what its clock shows at the simulation's beginning
    int32_t clock_ppm;        ///< by which it runs fast, in millionths; above -HC_NETWORK_SIM_PPM
    bool keeps_port;          ///< connects from the same address again
    uint64_t user;            ///< of whom its tokens are; 0: of another one at each connect
};

/// How many events of each kind a client has had since the beginning, over all its connects.
struct hc_sim_events {
    uint32_t count[HC_CLIENT_EVENT_MOVED + 1];
    struct hc_client_event last;
};

/// `game` on one client and a host with defaults of their own, over perfect links; 4096 packets in
/// flight, seed 1, worlds traced.
struct hc_sim_config hc_sim_config_default(const struct hc_game *game);

/// A host that runs, and no client yet. NULL: an invalid configuration or no memory.
struct hc_sim *hc_sim_create(const struct hc_sim_config *config);

/// Frees everything; NULL is allowed.
void hc_sim_destroy(struct hc_sim *sim);

/// What `client` will use at its next connect, to be changed freely.
struct hc_sim_setup *hc_sim_setup(struct hc_sim *sim, unsigned client);

/// The client begins to connect now; what it was before is gone without a word. False: its
/// configuration is invalid or memory is short.
bool hc_sim_connect(struct hc_sim *sim, unsigned client);

/// The client says goodbye now; it must be there.
void hc_sim_leave(struct hc_sim *sim, unsigned client);

/// The client is gone now, without a word; its datagrams under way arrive yet.
void hc_sim_kill(struct hc_sim *sim, unsigned client);

/// The client's address is another one from now on, without its knowing; what is on its way to the
/// old one is lost.
void hc_sim_rebind(struct hc_sim *sim, unsigned client);

/// The conditions on the client's links from now on; NULL leaves a direction as it is.
void hc_sim_set_link(struct hc_sim *sim, unsigned client, const struct hc_network_sim_config *up,
                     const struct hc_network_sim_config *down);

/// The host does nothing until `until_us`: it neither takes datagrams, which wait for it, nor
/// ticks.
void hc_sim_freeze_host(struct hc_sim *sim, uint64_t until_us);

/// The host dies without a word, and another one with the same token keys and another world begins
/// now. False: no memory, and the simulation is of no more use.
bool hc_sim_restart_host(struct hc_sim *sim);

/// The client does nothing until `until_us`; what arrives waits for it.
void hc_sim_freeze_client(struct hc_sim *sim, unsigned client, uint64_t until_us);

/// The client's clock, which is monotonic, shows `us` more from now on, until its next connect.
void hc_sim_jump(struct hc_sim *sim, unsigned client, uint64_t us);

/// Puts a datagram, at most HC_DATAGRAM_MAX bytes, on the client's uplink now, as if it came from
/// `port` (one of the client's, another's or a stranger's).
void hc_sim_inject(struct hc_sim *sim, unsigned client, uint16_t port, const uint8_t *bytes,
                   size_t size);

/// Puts a datagram on the client's downlink now, as if the host had sent it to where the client is.
void hc_sim_relay(struct hc_sim *sim, unsigned client, const uint8_t *bytes, size_t size);

/// Issues a token of `user` for the host; each is another one.
void hc_sim_issue(struct hc_sim *sim, uint64_t user, struct hc_party *party);

/// The keys of the connection `cid`; NULL: there has been none.
const struct hc_party *hc_sim_party(const struct hc_sim *sim, uint32_t cid);

/// A DATA that is open, sealed into `room`, whoever may have made it up; or itself, if it is of no
/// connection that there has been.
const uint8_t *hc_sim_seal(const struct hc_sim *sim, bool to_server, const uint8_t *bytes,
                           size_t size, uint8_t room[static HC_DATAGRAM_MAX]);

/// Somebody beside the simulation's clients says CONNECT to the host, or is told ACCEPT.
void hc_sim_learn(struct hc_sim *sim, const uint8_t *bytes, size_t size);

/// A sealed ACCEPT or DATA as the hooks are shown it, in `room`; or itself.
const uint8_t *hc_sim_open(const struct hc_sim *sim, bool to_server, const uint8_t *bytes,
                           size_t size, uint8_t room[static HC_DATAGRAM_MAX]);

/// How much the host has sent to strangers: datagrams, and their bytes.
uint64_t hc_sim_strangers(const struct hc_sim *sim, uint64_t *bytes);

/// In a hook about a datagram: as it really is, of the same size.
const uint8_t *hc_sim_sealed(const struct hc_sim *sim);

/// In host_sent: the port that the datagram goes to.
uint16_t hc_sim_port(const struct hc_sim *sim);

/// The server says goodbye to everybody.
void hc_sim_shutdown(struct hc_sim *sim);

/// Goes on to `until_us`, which is not in the past, and does all that is due up to then.
void hc_sim_run_until(struct hc_sim *sim, uint64_t until_us);

/// Goes on by `us`.
void hc_sim_run(struct hc_sim *sim, uint64_t us);

/// Microseconds since the beginning.
uint64_t hc_sim_now(const struct hc_sim *sim);

/// What the host's clock shows now, and what the client's does.
uint64_t hc_sim_host_now(const struct hc_sim *sim);
uint64_t hc_sim_client_now(const struct hc_sim *sim, unsigned client);

/// A hash of every datagram delivered, and when, and of every tick simulated, so far.
uint64_t hc_sim_trace(const struct hc_sim *sim);

/// What it was created from, with the host's seed and secret as drawn.
const struct hc_sim_config *hc_sim_config(const struct hc_sim *sim);

unsigned hc_sim_clients(const struct hc_sim *sim);
struct hc_sv_host *hc_sim_host(struct hc_sim *sim);

/// NULL before it connects and after it was killed; a client that has closed is still there.
struct hc_client *hc_sim_client(struct hc_sim *sim, unsigned client);

/// The address that the client has had since its last connect.
struct hc_address hc_sim_address(const struct hc_sim *sim, unsigned client);

const struct hc_sim_events *hc_sim_events(const struct hc_sim *sim, unsigned client);

/// What has happened on the client's links.
struct hc_network_sim_stats hc_sim_up_stats(const struct hc_sim *sim, unsigned client);
struct hc_network_sim_stats hc_sim_down_stats(const struct hc_sim *sim, unsigned client);
