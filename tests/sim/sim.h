/// The simulator: one server, or the matches of a port, their clients and links in one process and
/// in virtual time.
///
/// Time jumps from one deadline to the next, so a minute of play takes as long as its work.
/// One seed draws everything random: the same configuration and the same calls give the same
/// history, datagram by datagram, and hc_sim_trace is its hash. Calls belong in this order:
///   1. hc_sim_config_default, and changes to it; hc_sim_create;
///   2. hc_sim_observe; hc_sim_setup, before the connect of a client that differs from the others;
///   3. hc_sim_connect, hc_sim_leave, hc_sim_kill, hc_sim_rebind, hc_sim_set_link,
///   hc_sim_set_shared,
///      hc_sim_freeze_host, hc_sim_restart_host, hc_sim_restart_hosts, hc_sim_freeze_client,
///      hc_sim_jump_clock, hc_sim_set_host_clock, hc_sim_release_keys, hc_sim_inject: events that happen now;
///   4. hc_sim_run_until; back to 2;
///   5. hc_sim_destroy.
/// Times are microseconds since the simulation's beginning. A client is a number in [0, clients).
/// Its address is 127.0.0.1 with a port of its own, 1024 or above, another one at each connect.
/// Lower ports belong to strangers: a test may send the host datagrams from them, and the simulator
/// drops the answers. Only 1, hc_sim_connect, a client that is accepted, and other worlds of hosts
/// allocate memory.
///
/// The simulator issues the tokens, so it can unseal: hooks receive ACCEPT and DATA as they were
/// before they were sealed, with zeros for the tag, unless they are sealed wrongly.
///
/// This is the only driver of matches in virtual time. Scenarios, storms, attacks and benchmarks
/// configure it, observe it and disturb it; none delivers datagrams or advances the ends of a match
/// by itself. Unit tests and fuzz programs, which choose each datagram of one end, do without it.
/// tests/sim/players.h has what most matches need besides: players that all join and press keys.
#pragma once

#include "hindcast/network_sim.h"
#include "hindcast/client.h"
#include "server/host.h"
#include "tests/sim/endpoint.h"

struct hc_sim;

/// A call into the host.
enum hc_sim_work { HC_SIM_WORK_RECEIVE, HC_SIM_WORK_ADVANCE, HC_SIM_WORK_SEND, HC_SIM_WORKS };

enum { HC_SIM_OBSERVERS_MAX = 16 };

/// Callbacks that observe the simulation and provide inputs; each may be NULL. They may call the
/// functions of 3 (but a client's callback must not kill that client), and none of 1, 2, 4 and 5.
struct hc_sim_hooks {
    /// Writes the input of local player `index` of `client` (input_size bytes, zeroed or as the
    /// observer before has written it) before each advance of a client that plays; `tick` is its
    /// predicted head. Not called after hc_sim_release_keys.
    void (*script)(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input);
    /// The host begins or ends a call; measures its time.
    void (*host_works)(void *context, struct hc_sim *sim, enum hc_sim_work work, bool begins);
    /// The host is about to advance.
    void (*host_advances)(void *context, struct hc_sim *sim);
    /// The host has advanced its head, nearly always by one tick. host_event was called before.
    void (*host_ticked)(void *context, struct hc_sim *sim);
    /// A client has received a datagram or has advanced.
    void (*client_changed)(void *context, struct hc_sim *sim, unsigned client);
    /// A client received a datagram and returned `status`; before client_changed.
    void (*client_received)(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status);
    /// The host received a datagram from `port` off the uplink of `client` and returned `status`.
    /// host_event was called before; its answers are not sent yet.
    void (*host_received)(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status);
    /// The host sends a datagram to `client`, at hc_sim_port; before the link decides about it.
    /// A datagram that goes to two addresses causes two calls.
    void (*host_sent)(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size);
    /// The host sends a datagram, as it is on the wire, to a stranger's port.
    void (*stranger_sent)(void *context, struct hc_sim *sim, uint16_t port, const uint8_t *bytes,
                          size_t size);
    /// A client is about to send a datagram. The hook may change the bytes, which are then sealed
    /// again; false: it is not sent.
    bool (*tamper)(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes, size_t size);
    /// A client sends a datagram; before the link decides about it.
    void (*client_sent)(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size);
    void (*host_event)(void *context, struct hc_sim *sim, const struct hc_server_event *event);
    void (*client_event)(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event);
};

struct hc_sim_config {
    /// Of each host; the simulator draws its seed, secret and keys.
    struct hc_server_config host;
    unsigned matches; ///< matches of the port, [2, HC_SIM_MATCHES_MAX]; 0: one world
    struct hc_sv_host_test host_test;
    /// Of every client, unless hc_sim_setup changes it; each connect draws its entropy.
    struct hc_client_config client;
    unsigned clients;                      ///< clients that may connect, [1, HC_SERVER_CLIENTS_MAX]
    struct hc_network_sim_config up, down; ///< client to server, server to client, at the beginning
    /// With `shares`, the links of all clients lead through one more in each direction, such as the
    /// line of a household: behind the uplinks and before the downlinks.
    bool shares;
    struct hc_network_sim_config shared_up, shared_down; ///< of this one, at the beginning
    uint32_t packets_max;                                ///< in flight on each link
    /// By how much the times of arrivals are ahead of the clock that the other calls take: of DATA
    /// at the host, of all datagrams at the clients.
    uint32_t arrivals_ahead_us;
    uint64_t seed;
    /// Adds the hash of each client's world at each tick to the trace; expensive with many clients.
    bool trace_worlds;
    const struct hc_allocator *allocator; ///< of the links
    bool behind_router;        ///< all clients have one address that is not loopback, 192.0.2.1
    struct hc_sim_hooks hooks; ///< of the first observer
    void *context;             ///< first argument of these hooks
};

/// Settings of one client.
struct hc_sim_setup {
    struct hc_client_config config;
    uint64_t clock_offset_us; ///< clock of the client at the simulation's beginning
    int32_t clock_ppm;        ///< how much it runs fast, in millionths; above -HC_NETWORK_SIM_PPM
    uint32_t frame_us;        ///< receives and advances once in each frame; 0: whenever it has to
    bool light;               ///< a light client (client/session.h)
    bool keeps_port;          ///< connects from the same address again
    uint64_t user;            ///< of its tokens; 0: another one at each connect
    char name[HC_TOKEN_NAME_SIZE]; ///< of that user, padded with zeros
    uint8_t allowed_players;       ///< players that the client's tokens allow
};

/// Counts a client's events by kind, over all its connects.
struct hc_sim_events {
    uint32_t count[HC_CLIENT_EVENT_KINDS];
    struct hc_client_event last;
};

/// `game` on one client and a host with defaults of their own, over perfect links; 4096 packets in
/// flight, seed 1, worlds traced.
struct hc_sim_config hc_sim_config_default(const struct hc_game *game);

/// Creates a host that runs, and no client yet. NULL: an invalid configuration or no memory.
struct hc_sim *hc_sim_create(const struct hc_sim_config *config);

/// Frees everything; NULL is allowed.
void hc_sim_destroy(struct hc_sim *sim);

/// Adds an observer, of HC_SIM_OBSERVERS_MAX. Each hook is called of all observers, in the order in
/// which they were added.
void hc_sim_observe(struct hc_sim *sim, const struct hc_sim_hooks *hooks, void *context);

/// The settings that `client` will use at its next connect; the caller may change them.
struct hc_sim_setup *hc_sim_setup(struct hc_sim *sim, unsigned client);

/// Creates the client, which begins to connect; its predecessor vanishes without a CLOSE. False:
/// its configuration is invalid or memory is short.
bool hc_sim_connect(struct hc_sim *sim, unsigned client);

/// The client leaves and sends CLOSE; it must exist.
void hc_sim_leave(struct hc_sim *sim, unsigned client);

/// Destroys the client without a CLOSE; its datagrams in flight still arrive.
void hc_sim_kill(struct hc_sim *sim, unsigned client);

/// Changes the client's address without its knowledge; datagrams to the old address are lost.
void hc_sim_rebind(struct hc_sim *sim, unsigned client);

/// Sets the conditions on the client's links; NULL leaves a direction as it is.
void hc_sim_set_link(struct hc_sim *sim, unsigned client, const struct hc_network_sim_config *up,
                     const struct hc_network_sim_config *down);

/// Sets the conditions on the link that all clients share.
void hc_sim_set_shared(struct hc_sim *sim, const struct hc_network_sim_config *up,
                       const struct hc_network_sim_config *down);

/// Stops the host until `until_us`: it does not tick, and datagrams wait for it.
void hc_sim_freeze_host(struct hc_sim *sim, uint64_t until_us);

/// Replaces the hosts, without a CLOSE, by as many with the same token keys and other worlds.
/// False: no memory, and the simulation can only be destroyed.
bool hc_sim_restart_host(struct hc_sim *sim);

/// The same with `matches`, see hc_sim_config, of `clients` each.
bool hc_sim_restart_hosts(struct hc_sim *sim, unsigned matches, uint16_t clients);

/// Stops the client until `until_us`; datagrams wait for it.
void hc_sim_freeze_client(struct hc_sim *sim, unsigned client, uint64_t until_us);

/// Advances the client's monotonic clock by `us`, until its next connect. Negative: sets it back,
/// by less than its offset, and not before what it has shown.
void hc_sim_jump_clock(struct hc_sim *sim, unsigned client, int64_t us);

/// Sets the clock of the hosts by `by_us`, ahead or back, not before its beginning. The program that
/// runs them still wakes when their next deadline would have come.
void hc_sim_set_host_clock(struct hc_sim *sim, int64_t by_us);

/// From now on no player presses a key: all inputs are zeros.
void hc_sim_release_keys(struct hc_sim *sim);

/// Puts a datagram, at most HC_DATAGRAM_MAX bytes, on the client's uplink now, as if it came from
/// `port` (one of the client's, another's or a stranger's).
void hc_sim_inject(struct hc_sim *sim, unsigned client, uint16_t port, const uint8_t *bytes,
                   size_t size);

/// Puts a datagram on the client's downlink now, as if the host had sent it to the client's
/// address.
void hc_sim_relay(struct hc_sim *sim, unsigned client, const uint8_t *bytes, size_t size);

/// Issues a token of `user`, without a name, for the host, another one at each call.
void hc_sim_issue_token(struct hc_sim *sim, uint64_t user, struct hc_endpoint *endpoint);

/// The keys of the connection `cid`; NULL: there was none.
const struct hc_endpoint *hc_sim_endpoint(const struct hc_sim *sim, uint32_t cid);

/// Seals a DATA with its connection's keys into `out`, and returns that; returns `bytes` if there
/// was no such connection.
const uint8_t *hc_sim_seal(const struct hc_sim *sim, bool to_server, const uint8_t *bytes,
                           size_t size, uint8_t out[static HC_DATAGRAM_MAX]);

/// Learns the keys of a client that the test plays itself, from its CONNECT or the host's ACCEPT.
void hc_sim_note_handshake(struct hc_sim *sim, const uint8_t *bytes, size_t size);

/// Opens a sealed ACCEPT or DATA into `out`, as for the hooks, and returns that; returns `bytes` if
/// it cannot.
const uint8_t *hc_sim_open(const struct hc_sim *sim, bool to_server, const uint8_t *bytes,
                           size_t size, uint8_t out[static HC_DATAGRAM_MAX]);

/// Counts the datagrams that the host has sent to strangers, and their bytes.
uint64_t hc_sim_strangers(const struct hc_sim *sim, uint64_t *bytes);

/// In a hook about a datagram: the datagram as it is on the wire, of the same size.
const uint8_t *hc_sim_sealed(const struct hc_sim *sim);

/// In host_sent: the datagram's destination port.
uint16_t hc_sim_port(const struct hc_sim *sim);

/// The server shuts down and sends CLOSE to all clients.
void hc_sim_shutdown(struct hc_sim *sim);

/// The server says to all clients that it restarts and is back after `seconds`;
/// hc_sim_restart_host is its return.
void hc_sim_announce_restart(struct hc_sim *sim, uint32_t seconds);

/// Runs everything that is due up to `until_us`, which is not in the past.
void hc_sim_run_until(struct hc_sim *sim, uint64_t until_us);

/// Runs everything that is due within `us` from now.
void hc_sim_run(struct hc_sim *sim, uint64_t us);

/// Microseconds since the beginning.
uint64_t hc_sim_now(const struct hc_sim *sim);

/// The host's clock and the client's.
uint64_t hc_sim_host_now(const struct hc_sim *sim);
uint64_t hc_sim_client_now(const struct hc_sim *sim, unsigned client);

/// A hash of every datagram delivered, its time, and every tick simulated, so far.
uint64_t hc_sim_trace(const struct hc_sim *sim);

/// The configuration of hc_sim_create or of the newest restart, with the drawn seed and secret of
/// the newest host.
const struct hc_sim_config *hc_sim_config(const struct hc_sim *sim);

unsigned hc_sim_clients(const struct hc_sim *sim);

/// The host, or in a hook about a host of several: that one, and its place. Elsewhere: of match 1.
struct hc_server *hc_sim_host(struct hc_sim *sim);
unsigned hc_sim_active(const struct hc_sim *sim);

/// The number of matches on the port; 0: there is one host with one world.
unsigned hc_sim_matches(const struct hc_sim *sim);

/// The host at a place: of match `place` + 1.
struct hc_server *hc_sim_match(struct hc_sim *sim, unsigned place);

/// The configuration of the client's last connect, with its credential and its entropy.
const struct hc_client_config *hc_sim_client_config(const struct hc_sim *sim, unsigned client);

/// NULL before it connects and after hc_sim_kill; a client that has closed still exists.
struct hc_client *hc_sim_client(struct hc_sim *sim, unsigned client);

/// The address that the client has had since its last connect.
struct hc_address hc_sim_address(const struct hc_sim *sim, unsigned client);

const struct hc_sim_events *hc_sim_events(const struct hc_sim *sim, unsigned client);

/// Statistics of the client's links.
struct hc_network_sim_stats hc_sim_up_stats(const struct hc_sim *sim, unsigned client);
struct hc_network_sim_stats hc_sim_down_stats(const struct hc_sim *sim, unsigned client);
