/// A real hindcastd on loopback, and clients that play on it.
///
/// All of it ends by itself: a server is a process of this one and dies with it, every wait has an
/// end, and no process is killed but by its own number.
#pragma once

#include "client/bots/udp.h"
#include "hindcast/client.h"
#include "tests/attack/attack.h"

#include <jansson.h>
#include <sys/types.h>

enum {
    WIRE_CLIENTS_MAX = 256,
    WIRE_PATH_MAX = 256,
};

struct wire_server {
    pid_t pid; ///< 0: it does not run
    uint16_t port;
    bool dev;            ///< issues tokens itself; else it has the keys of hc_party_ring
    const char *program; ///< hindcastd
    const char *format;  ///< of its log
    unsigned clients;
    char directory[WIRE_PATH_MAX]; ///< its files: keys, log, report
};

/// One client on a socket of its own.
struct wire_client {
    struct hc_client *core; ///< NULL: none
    struct hc_cl_udp *udp;
    uint64_t begun_us, playing_us; ///< 0: it has not played yet
    uint64_t lost_us, back_us;     ///< when it lost its connection and played again; 0: not
    uint64_t stalls;
};

struct wire_crowd {
    const struct wire_server *server;
    struct wire_client clients[WIRE_CLIENTS_MAX];
    unsigned count;
    struct hc_histogram sleep_us; ///< how long each sleep of the loop took, of 2 ms at most
};

/// What this machine's monotonic clock shows, microseconds.
uint64_t wire_now_us(void);

/// Starts it and waits until it listens, at `port` (0: any). False: it does not, and the attack has
/// failed.
bool wire_start(struct attack *attack, struct wire_server *server, uint16_t port);

/// Kills it without a word.
void wire_kill(struct wire_server *server);

/// Ends it, in order, and returns its report, which the caller releases; NULL: it has failed.
json_t *wire_stop(struct attack *attack, struct wire_server *server);

/// Removes its files; it must not run.
void wire_clean(struct wire_server *server);

/// Bytes of its heap and other private memory that it has obtained.
uint64_t wire_memory(const struct wire_server *server);

/// The lines of its log, an array of texts without their ends.
json_t *wire_log(const struct wire_server *server);

/// A token of `user` for it, with this name (NULL: none), good for `life_s`.
struct hc_credential wire_token(uint64_t user, const char *name, uint32_t life_s);

/// Adds a client that begins to connect; its place. `players` 0 watches.
unsigned wire_join(struct attack *attack, struct wire_crowd *crowd,
                   const struct hc_credential *credential, uint8_t players);

/// All clients go on for `us`.
void wire_run(struct wire_crowd *crowd, uint64_t us);

/// All clients go on until `count` of them play; false: they do not within a minute.
bool wire_await(struct wire_crowd *crowd, unsigned count);

/// Whether others have kept this machine so busy that a process that only waits is late as well.
bool wire_machine_is_busy(const struct wire_crowd *crowd);

/// A client says goodbye.
void wire_leave(struct wire_crowd *crowd, unsigned place);

/// How many play, those included that wait for a server that is late.
unsigned wire_playing(const struct wire_crowd *crowd);

/// Ends all clients, without a word.
void wire_disperse(struct wire_crowd *crowd);
