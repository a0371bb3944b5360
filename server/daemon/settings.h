/// The settings of hindcastd, each in one row.
///
/// X(type, member, name, VALUE, initial, group, change, sentence): `type member` of struct
/// hc_sv_options is set by the option --name, see common/programs/settings.h for VALUE. `initial`
/// is the default, in which `core` is hc_server_config_default(). LIVE: a reload applies a change
/// (server/daemon/reload.h). FIXED: memory, files or clients depend on its first value.
#pragma once

#include "common/programs/settings.h"
#include "common/programs/trace_file.h"
#include "hindcast/connection.h"
#include "hindcast/server.h"
#include "hindcast/timeline.h"
#include "proto/snapshot.h"
#include "server/daemon/log.h"

enum { HC_SV_WORKERS_MAX = 64 };

/// The end of a match into which a call does not return.
enum hc_sv_stuck_policy { HC_SV_STUCK_POLICY_REPLACE, HC_SV_STUCK_POLICY_END };

/// The groups of settings.
enum hc_sv_settings_group {
    HC_SV_SETTINGS_ADDRESS,
    HC_SV_SETTINGS_CLIENTS,
    HC_SV_SETTINGS_WORLD,
    HC_SV_SETTINGS_LIMITS,
    HC_SV_SETTINGS_MATCHES,
    HC_SV_SETTINGS_ADMIN,
    HC_SV_SETTINGS_FLEET,
    HC_SV_SETTINGS_OUTPUT,
    HC_SV_SETTINGS_TRIALS,
    HC_SV_SETTINGS_COMMAND_LINE = HC_SETTING_COMMAND_LINE,
};

/// The end of an allocated gameserver whose players have left.
enum hc_sv_agones_empty {
    HC_SV_AGONES_EMPTY_READY,    ///< return it to the fleet
    HC_SV_AGONES_EMPTY_SHUTDOWN, ///< shut it down
    HC_SV_AGONES_EMPTY_STAY,     ///< leave it allocated
};

/// The settings of which a server has a member of the same name (hc_server_config).
#define HC_SV_SETTINGS_OF_SERVER(X)                                                                \
    X(uint64_t, audience, "audience", N(0, UINT64_MAX), core.audience, ADDRESS, FIXED,             \
      "Accept tokens for this audience")                                                           \
    X(uint16_t, clients, "max-clients", N(1, HC_PLAYERS_MAX), core.clients, CLIENTS, FIXED,        \
      "Clients that play at once, at most the game's players; a game with fewer lowers the "       \
      "default")                                                                                   \
    X(uint16_t, spectators, "spectators", N(0, HC_SERVER_CLIENTS_MAX), core.spectators, CLIENTS,   \
      FIXED,                                                                                       \
      "Places for clients without players, if their tokens let them watch, beside those of "       \
      "--max-clients; in each match")                                                              \
    X(uint16_t, players_per_client, "players-per-client", N(1, HC_OWN_PLAYERS_MAX),                \
      core.players_per_client, CLIENTS, LIVE,                                                      \
      "Most local players of a client, if its token allows them")                                  \
    X(uint16_t, connects_per_address, "connects-per-address", N(0, 10000),                         \
      core.connects_per_address, CLIENTS, LIVE,                                                    \
      "Connects a second of one IPv4 address or IPv6 /64, except loopback; 0: any number")         \
    X(uint16_t, clients_per_address, "clients-per-address", N(0, HC_SERVER_CLIENTS_MAX),           \
      core.clients_per_address, CLIENTS, LIVE,                                                     \
      "Clients at once of one IPv4 address or IPv6 /64, except loopback; 0: any number")           \
    X(uint32_t, timeout_us, "timeout", S_IN_US(1, 3600), core.timeout_us, CLIENTS, LIVE,           \
      "Seconds of silence after which a client has lost its connection")                           \
    X(uint32_t, linger_us, "linger", S_IN_US(0, 3600), core.linger_us, CLIENTS, LIVE,              \
      "Seconds for which the players of such a client wait for it to come back; 0: none")          \
    X(uint32_t, session_life_s, "session-life", S(0, UINT32_MAX), core.session_life_s, CLIENTS,    \
      LIVE, "Seconds after which a session ends, and its user needs a new token; 0: never")        \
    X(uint32_t, remembered_users, "remembered-users", N(1, HC_SERVER_REMEMBERED_MAX),              \
      core.remembered_users, CLIENTS, FIXED,                                                       \
      "Users whose used tokens are remembered, at least four for each client. If more come, "      \
      "those with the oldest tokens are forgotten, and whatever was issued before is refused. "    \
      "Several --matches share them, but have 512 each")                                           \
    X(uint16_t, tick_rate, "tick-rate", HZ(1, HC_TICK_RATE_MAX), core.tick_rate, WORLD, FIXED,     \
      "Ticks a second")                                                                            \
    X(uint64_t, seed, "seed", OR(N(0, INT64_MAX), "random"), UINT64_MAX, WORLD, FIXED,             \
      "Seed of the world, which clients know; NPCs have a secret one")                             \
    X(uint32_t, history, "history", TICKS(0, HC_HISTORY_MAX), core.history, LIMITS, FIXED,         \
      "Farthest rewind for a late input; 0 never rewinds")                                         \
    X(uint32_t, late_margin, "late-margin", TICKS(0, HC_HISTORY_MAX), core.late_margin, LIMITS,    \
      LIVE,                                                                                        \
      "Refuse inputs that are more than TICKS + 1 later than usual for their client, against "     \
      "clients that hold inputs back; 512: only --history limits them")                            \
    X(uint32_t, lag_compensation_ms, "lag-compensation", MS(0, 10000), core.lag_compensation_ms,   \
      LIMITS, LIVE,                                                                                \
      "Compare shots with what their shooters saw, at most MS ms ago, in games that look back")    \
    X(uint16_t, snapshot_rate, "snapshot-rate", HZ(0, HC_TICK_RATE_MAX), core.snapshot_rate,       \
      LIMITS, LIVE, "Snapshots a second for each client, at most --tick-rate; 0: one each tick")   \
    X(uint32_t, client_rate, "client-rate", BYTES_PER_S(HC_SERVER_CLIENT_RATE_MIN, UINT32_MAX),    \
      core.client_rate, LIMITS, LIVE,                                                              \
      "Most bytes a second that a client is sent, headers included")                               \
    X(uint32_t, force_rewind, "force-rewind", TICKS(0, HC_HISTORY_MAX), core.force_rewind, TRIALS, \
      LIVE,                                                                                        \
      "Redo the last TICKS ticks at every tick, to measure the worst case; at most --history")

/// The settings that only the daemon knows.
#define HC_SV_SETTINGS_OF_DAEMON(X)                                                                \
    X(const char *, bind, "bind", TEXT("ADDR"), "::", ADDRESS, FIXED,                              \
      "Numeric address to listen on; :: is all of them")                                           \
    X(uint16_t, port, "port", N(0, UINT16_MAX), 40000, ADDRESS, FIXED,                             \
      "UDP port; 0 takes any free one")                                                            \
    X(bool, dev, "dev", FLAG, false, ADDRESS, FIXED,                                               \
      "For trials: a random key, and tokens for every program on this machine, at the TCP port "   \
      "of the same number on loopback. A restarted server has another key, and clients need new "  \
      "tokens")                                                                                    \
    X(const char *, key_file, "key-file", TEXT("FILE"), NULL, ADDRESS, LIVE,                       \
      "The token keys, made by `hindcastd key`; read again on SIGHUP. A name without a slash is "  \
      "first looked for in $CREDENTIALS_DIRECTORY")                                                \
    X(const char *, refused, "refused", TEXT("FILE"), NULL, ADDRESS, LIVE,                         \
      "Users to refuse, a client_id on each line, and `not-before UNIX_TIME` to refuse all older " \
      "sessions and tokens; read again on SIGHUP")                                                 \
    X(uint32_t, restart_s, "restart-seconds", N(0, HC_RESTART_SECONDS_MAX), 1, CLIENTS, LIVE,      \
      "On SIGUSR2, say that the server is back after N seconds: so long the clients wait before "  \
      "they try to reconnect, for 30 s")                                                           \
    X(uint32_t, drain_on_term_s, "drain-on-term", S(0, 86400), 0, CLIENTS, LIVE,                   \
      "On SIGTERM, drain before the end: admit nobody any more, and end once nobody plays, or "    \
      "after so many seconds. A second SIGTERM ends. 0: end at once")                              \
    X(const char *, game, "game", OR(TEXT("FILE"), "the arena"), NULL, WORLD, FIXED,               \
      "A plugin with the game to serve")                                                           \
    X(uint16_t, npcs, "npcs", N(0, HC_PLAYERS_MAX), 0, WORLD, FIXED,                               \
      "Players of --max-clients that the server plays itself, as the game's bots do")              \
    X(uint32_t, view, "view", OR(UNITS(0, UINT32_C(1) << 30), "as the game says"), UINT32_MAX,     \
      WORLD, FIXED,                                                                                \
      "How far a player sees in x and y, in units of the game, and at least its reach; 0: "        \
      "everything")                                                                                \
    X(uint16_t, matches, "matches", N(1, HC_MATCH_MAX), 1, MATCHES, FIXED,                         \
      "Host N matches, each with a world, a seed and --max-clients clients of its own. A token "   \
      "names the match or leaves the choice to the server")                                        \
    X(uint16_t, workers, "workers", N(1, HC_SV_WORKERS_MAX), 1, MATCHES, FIXED,                    \
      "Threads that share the matches, at most --matches")                                         \
    X(enum hc_sv_stuck_policy, stuck_policy, "stuck-policy", WORDS("replace|end"),                 \
      HC_SV_STUCK_POLICY_REPLACE, MATCHES, FIXED,                                                  \
      "When a match is stuck, give it another world, or end the server with exit status 70; "      \
      "either way the clients are told to come back")                                              \
    X(uint32_t, stuck_after_us, "stuck-after", S_IN_US(2, 3600), 5000000, MATCHES, FIXED,          \
      "A match is stuck when a call into it has not returned for S seconds")                       \
    X(const char *, admin, "admin", OR(TEXT("ADDRESS"), "none"), NULL, ADMIN, FIXED,               \
      "Answer HTTP requests about this server at ADDRESS:PORT, such as 127.0.0.1:40080, or at "    \
      "unix:/PATH. An address that is not loopback needs --admin-password-file")                   \
    X(const char *, admin_password_file, "admin-password-file", TEXT("FILE"), NULL, ADMIN, FIXED,  \
      "Ask for the password in this file, of 16 bytes or more, and the name admin: HTTP Basic. A " \
      "name without a slash is first looked for in $CREDENTIALS_DIRECTORY")                        \
    X(bool, agones, "agones", FLAG, false, FLEET, FIXED,                                           \
      "Tell the Agones sidecar of this pod that the server is ready and healthy, who plays, and "  \
      "when it shuts down. The sidecar listens on loopback, at the TCP port in "                   \
      "$AGONES_SDK_HTTP_PORT, or at 9358")                                                         \
    X(const char *, agones_port, "agones-port", OR(TEXT("NAME"), "--port"), NULL, FLEET, FIXED,    \
      "Listen on the port of this name in the gameserver, whose portPolicy is Passthrough, "       \
      "instead of --port")                                                                         \
    X(enum hc_sv_agones_empty, agones_empty, "agones-empty", WORDS("ready|shutdown|stay"),         \
      HC_SV_AGONES_EMPTY_READY, FLEET, LIVE,                                                       \
      "When nobody is left in an allocated gameserver: return it to the fleet, shut it down, or "  \
      "leave it allocated")                                                                        \
    X(uint64_t, agones_empty_after_us, "agones-empty-after", S_IN_US(1, 86400), 60000000, FLEET,   \
      LIVE,                                                                                        \
      "Seconds since the last player left or the newest allocation came, after which nobody is "   \
      "expected any more; promises of the allocator lapse then too")                               \
    X(uint16_t, query_port, "query-port", OR(N(1, UINT16_MAX), "none"), 0, ADMIN, FIXED,           \
      "Answer server browsers (A2S) at this UDP port of --bind: name, players and settings")       \
    X(const char *, query_name, "query-name", TEXT("NAME"), "Hindcast", ADMIN, FIXED,              \
      "The server's name in server browsers, of at most 63 bytes")                                 \
    X(enum hc_sv_log_level, level, "log-level", WORDS("error|warn|info|debug"), HC_SV_LOG_INFO,    \
      OUTPUT, LIVE, "The least urgent lines that are logged")                                      \
    X(enum hc_sv_log_format, format, "log-format", WORDS("text|json"), HC_SV_LOG_TEXT, OUTPUT,     \
      FIXED, "One line for each event, of words or of JSON")                                       \
    X(const char *, log_file, "log-file", OR(TEXT("FILE"), "standard error"), NULL, OUTPUT, LIVE,  \
      "Append the log to a file, which SIGHUP opens again")                                        \
    X(uint64_t, status_every_us, "status-every", OR(S_IN_US(1, 86400), "none"), 0, OUTPUT, LIVE,   \
      "Log a status line every S seconds, at level info")                                          \
    X(const char *, json, "json", TEXT("FILE"), NULL, OUTPUT, FIXED,                               \
      "Write the final report as one JSON object; - is standard output")                           \
    X(bool, verdict, "verdict", FLAG, false, OUTPUT, LIVE,                                         \
      "Exit with 1 if the verdict of the final report is NOT OK. Otherwise a server that stops "   \
      "as it was told exits with 0, whatever happened in its life")                                \
    X(const char *, trace, "trace", OR(TEXT("FILE"), "none"), NULL, OUTPUT, FIXED,                 \
      "Write what ticks and rewinds do into FILE, for ui.perfetto.dev or chrome://tracing")        \
    X(uint32_t, trace_limit_mb, "trace-limit", MB(1, HC_TRACE_LIMIT_MB_MAX), HC_TRACE_LIMIT_MB,    \
      OUTPUT, LIVE, "Size at which a trace ends")                                                  \
    X(uint32_t, ticks, "ticks", OR(N(1, HC_SNAPSHOT_TICK_MAX), "until a signal"), 0, TRIALS,       \
      FIXED, "Stop after N ticks; the exit status is that of --verdict")                           \
    X(uint16_t, force_rewind_match, "force-rewind-match", N(0, HC_MATCH_MAX), 0, TRIALS, LIVE,     \
      "--force-rewind in match N alone; 0: in all")                                                \
    X(struct hc_setting_texts, config, "config", TEXTS("FILE"),                                    \
      (struct hc_setting_texts){.count = 0}, COMMAND_LINE, FIXED,                                  \
      "Take settings from a file of `name = value` lines, as `hindcastd config` prints; may be "   \
      "given again. Later files win, and the command line wins over all. SIGHUP reads them again") \
    X(bool, check_config, "check-config", FLAG, false, COMMAND_LINE, FIXED,                        \
      "Check all settings and the files that they name, and start no server")

/// All settings.
#define HC_SV_SETTINGS(X) HC_SV_SETTINGS_OF_SERVER(X) HC_SV_SETTINGS_OF_DAEMON(X)
