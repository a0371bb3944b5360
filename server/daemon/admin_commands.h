/// The commands of the admin face: paths of the daemon, and commands of hindcastctl.
///
/// X(id, name, METHOD, parameters, sentence): METHOD /name, with these parameters, those in
/// brackets optional. `text`, `where` and `file` are texts, all others numbers.
#pragma once

#include <stdbool.h>
#include <stddef.h>

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
    X(SAY, "say", POST, "text [match] [user]",                                                     \
      "Tell the players a text, which their games show: those of all matches, of one match, or a " \
      "user by its client_id")                                                                     \
    X(DRAIN, "drain", POST, "seconds [where] [text]",                                              \
      "Admit nobody any more, and end the server once nobody plays, or after so many seconds. "    \
      "The players are told so, with the address of another server and a text if they are given")  \
    X(TRACE, "trace", POST, "file",                                                                \
      "Write a trace into a new file, an absolute path on the server's machine, in place of the "  \
      "present one; off: end it. The log has the result")                                          \
    X(RESTART, "restart", POST, "",                                                                \
      "End the server as on SIGUSR2: its clients come back to the server that is started next")

/// The numbers of the commands.
enum hc_sv_admin_command_id {
#define HC_SV_ADMIN_COMMAND_ENUM(id, ...) HC_SV_ADMIN_##id,
    HC_SV_ADMIN_COMMANDS(HC_SV_ADMIN_COMMAND_ENUM) HC_SV_ADMIN_COMMAND_COUNT
};

enum {
    HC_SV_ADMIN_PARAMETERS = 3, ///< of a command, at most
    HC_SV_ADMIN_NAME_SIZE = 16, ///< bytes of a parameter's name and its end
};

struct hc_sv_admin_command {
    const char *name;
    bool changes;           ///< the method is POST, otherwise GET
    const char *parameters; ///< names, with a space between them; "": none
    const char *sentence;
};

struct hc_sv_admin_parameter {
    char name[HC_SV_ADMIN_NAME_SIZE];
    bool is_text; ///< false: it is a number
    bool optional;
};

extern const struct hc_sv_admin_command hc_sv_admin_commands[HC_SV_ADMIN_COMMAND_COUNT];

/// The number of the command `name`; HC_SV_ADMIN_COMMAND_COUNT: there is none.
enum hc_sv_admin_command_id hc_sv_admin_command_of(const char *name);

/// Writes the parameters of a command to `out`, those that it needs first; returns their number.
unsigned hc_sv_admin_parameters(const struct hc_sv_admin_command *command,
                                struct hc_sv_admin_parameter out[static HC_SV_ADMIN_PARAMETERS]);
