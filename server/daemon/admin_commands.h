/// The commands of the admin face: paths of the daemon, and commands of hindcastctl.
///
/// X(id, name, METHOD, parameter, sentence): METHOD /name, with a number as `parameter` unless that
/// is "".
#pragma once

#include <stdbool.h>

#define HC_SV_ADMIN_COMMANDS(X)                                                                    \
    X(STATUS, "status", GET, "", "Show the matches and their clients, as JSON")                    \
    X(METRICS, "metrics", GET, "", "Show all counters, as text of Prometheus")                     \
    X(HEALTHZ, "healthz", GET, "", "Fail while a tick loop hangs")                                 \
    X(READYZ, "readyz", GET, "", "Fail while no client may join")                                  \
    X(KICK, "kick", POST, "user",                                                                  \
      "End the session of a user, by its client_id. Its token and its tickets are void; it may "   \
      "come back with another token")                                                              \
    X(BAN, "ban", POST, "user",                                                                    \
      "Write a user's client_id into the file of --refused, which ends its session")               \
    X(UNBAN, "unban", POST, "user", "Take a client_id out of that file")                           \
    X(RELOAD, "reload", POST, "",                                                                  \
      "Read the configuration, the keys and the refused users again, as on SIGHUP; the log says "  \
      "what has changed")                                                                          \
    X(SNAPSHOT_RATE, "snapshot-rate", POST, "hz",                                                  \
      "Send each client so many snapshots a second until the next reload that sets another "       \
      "number; 0: one each tick")                                                                  \
    X(DRAIN, "drain", POST, "seconds",                                                             \
      "Admit nobody any more, and end the server once nobody plays, or after so many seconds")     \
    X(RESTART, "restart", POST, "",                                                                \
      "End the server as on SIGUSR2: its clients come back to the server that is started next")

/// The numbers of the commands.
enum hc_sv_admin_command_id {
#define HC_SV_ADMIN_COMMAND_ENUM(id, ...) HC_SV_ADMIN_##id,
    HC_SV_ADMIN_COMMANDS(HC_SV_ADMIN_COMMAND_ENUM) HC_SV_ADMIN_COMMAND_COUNT
};

struct hc_sv_admin_command {
    const char *name;
    bool changes;          ///< the method is POST, otherwise GET
    const char *parameter; ///< "": none
    const char *sentence;
};

extern const struct hc_sv_admin_command hc_sv_admin_commands[HC_SV_ADMIN_COMMAND_COUNT];

/// The number of the command `name`; HC_SV_ADMIN_COMMAND_COUNT: there is none.
enum hc_sv_admin_command_id hc_sv_admin_command_of(const char *name);
