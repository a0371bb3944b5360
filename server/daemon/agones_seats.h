/// The list `players` and the counter `rooms` of a gameserver: how they differ from the sessions
/// and the matches of this server.
///
/// An allocator may promise: it adds the players that will come to the list, or one to the counter
/// of rooms. The server neither adds those again nor takes a promise back, before it lapses.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { HC_SV_AGONES_PLAYERS_MAX = 1000 }; ///< the values that a list may have

struct hc_sv_agones_players {
    json_t *held;     ///< an object whose keys are the list; true: the value is of a session
    json_t *wanted;   ///< an object whose keys are the sessions
    int64_t capacity; ///< of the list
};

/// Opens one that is all zeros. False: no memory.
bool hc_sv_agones_players_open(struct hc_sv_agones_players *players);

/// Begins another list of the sessions, which is empty.
void hc_sv_agones_players_clear(struct hc_sv_agones_players *players);

/// Adds a session by the client_id of its user; further ones of the same user change nothing.
/// Sessions beyond the most are left out.
void hc_sv_agones_players_want(struct hc_sv_agones_players *players, uint64_t client_id);

/// Takes the list as the sidecar describes it. False: it is none, and nothing changes.
bool hc_sv_agones_players_read(struct hc_sv_agones_players *players, const json_t *list);

/// The next value to remove (`*adds` false) or to add; NULL: the list is right, or full. `lapsed`:
/// values of no session are removed too that this server has not added. Valid until the next call.
const char *hc_sv_agones_players_next(const struct hc_sv_agones_players *players, bool lapsed,
                                      bool *adds);

/// The sidecar has added or removed the value.
void hc_sv_agones_players_change(struct hc_sv_agones_players *players, const char *value,
                                 bool adds);

/// Frees all; one that is all zeros is allowed.
void hc_sv_agones_players_close(struct hc_sv_agones_players *players);

struct hc_sv_agones_rooms {
    int64_t count, capacity; ///< as the sidecar described the counter
    int64_t used;            ///< matches with sessions, when the counter was last right
};

/// Takes the counter as the sidecar describes it. False: it is none, and nothing changes.
bool hc_sv_agones_rooms_read(struct hc_sv_agones_rooms *rooms, const json_t *counter);

/// By how much the counter must change for `used` matches with sessions: up if there are more than
/// it counts, down for each that has ended, and to all once the promises have lapsed.
int64_t hc_sv_agones_rooms_change(const struct hc_sv_agones_rooms *rooms, int64_t used,
                                  bool lapsed);
