/// A real hindcastd on loopback, and clients that play on it.
///
/// Everything ends by itself: the server is a child process and ends with this one, every wait is
/// limited, and a process is killed only by its id.
#pragma once

#include "client/programs/runner.h"
#include "hindcast/client.h"
#include "tests/attack/attack.h"

#include <jansson.h>
#include <sys/types.h>

enum {
    LOOPBACK_CLIENTS_MAX = 256,
    LOOPBACK_PATH_MAX = 256,
    LOOPBACK_TIMES_MAX = 10, ///< on a free machine times are judged against so many times their
                             ///< bound
};

#define LOOPBACK_SLIP_BOUND_MS 5.0

struct loopback_server {
    pid_t pid; ///< 0: it does not run
    int out;   ///< standard output of the server, while it runs
    uint16_t port;
    bool dev;   ///< the server issues tokens; else it has the keys of hc_endpoint_token_ring
    bool admin; ///< the server has an admin face at the Unix socket `admin` of its folder
    bool open;  ///< the face needs no password; otherwise it has one that nobody knows
    const char *program; ///< hindcastd
    const char *format;  ///< of its log
    unsigned clients;
    unsigned matches;                  ///< 0: one world; more than one: on two workers
    char directory[LOOPBACK_PATH_MAX]; ///< folder of the server's files: keys, log, report
};

/// One client on a socket of its own.
struct loopback_client {
    struct hc_cl_runner runner;
    unsigned place;                ///< in the crowd
    uint64_t begun_us, playing_us; ///< 0: it has not played yet
    uint64_t lost_us, back_us;     ///< when it lost its connection and played again; 0: not
    struct hc_client_event last;   ///< its last event
};

struct loopback_clients {
    const struct loopback_server *server;
    struct loopback_client clients[LOOPBACK_CLIENTS_MAX];
    unsigned count;
    struct hc_histogram sleep_us; ///< duration of the loop's sleeps, which are of 2 ms at most
};

/// Starts the server and waits until it listens at `port` (0: any). False: it does not, and the
/// attack has failed.
bool loopback_start(struct attack *attack, struct loopback_server *server, uint16_t port);

/// Kills the server.
void loopback_kill(struct loopback_server *server);

/// Terminates the server in order and returns its report, which the caller releases; NULL: it
/// failed.
json_t *loopback_stop(struct attack *attack, struct loopback_server *server);

/// Kills the server if it runs, and removes its files.
void loopback_remove_files(struct loopback_server *server);

/// Bytes of the server's heap and other private memory.
uint64_t loopback_memory(const struct loopback_server *server);

/// The lines of the server's log, an array of texts without line ends.
json_t *loopback_log(const struct loopback_server *server);

/// Issues a token of `user` with this name (NULL: none), valid for `life_s`.
struct hc_credential loopback_issue_token(uint64_t user, const char *name, uint32_t life_s);

/// Begins to join users 1 to `count`, with a player each and tokens that last for `life_s`.
void loopback_join_users(struct attack *attack, struct loopback_clients *crowd, unsigned count,
                         uint32_t life_s);

/// Adds a client that begins to connect. With 0 `players` it is a spectator.
void loopback_join(struct attack *attack, struct loopback_clients *crowd,
                   const struct hc_credential *credential, uint8_t players);

/// Runs all clients for `us`.
void loopback_run(struct loopback_clients *crowd, uint64_t us);

/// Runs all clients until `count` of them play; false: they do not within a minute.
bool loopback_await(struct loopback_clients *crowd, unsigned count);

/// Whether this machine is so busy that even a sleeping process wakes late.
bool loopback_machine_is_busy(const struct loopback_clients *crowd);

/// The lateness of the server's ticks, at the 99th percentile, ms, by its report; -1: unknown.
double loopback_slip_ms(const json_t *report);

/// The attack fails if that is more than may be beside these clients; returns it.
double loopback_judge_slip(struct attack *attack, const struct loopback_clients *crowd,
                           const json_t *report);

/// A client leaves.
void loopback_leave(struct loopback_clients *crowd, unsigned place);

/// Counts the clients that play or are stalled.
unsigned loopback_playing(const struct loopback_clients *crowd);

/// Destroys all clients, without CLOSE.
void loopback_destroy_clients(struct loopback_clients *crowd);
