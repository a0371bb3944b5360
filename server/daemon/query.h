/// The datagrams of A2S, by which server browsers ask a server for its name, players and settings
/// (Valve's "Server queries"). Numbers are little-endian, texts end with a zero.
///
///     every datagram  ff ff ff ff, kind 1
///     'T' INFO        "Source Engine Query", 0; challenge 4, or nothing
///     'U' PLAYERS     challenge 4
///     'V' RULES       challenge 4
///     'A' CHALLENGE   challenge 4
///     'I' INFO        17, name, map, folder, game, id 2, players 1, most 1, bots 1, 'd', 'l',
///                     password 1, 0, version, a0, port 2, tags
///     'D' PLAYERS     count 1; each: 0, name, score 4, seconds 4 (a float)
///     'E' RULES       count 2; each: name, value
///     a piece         fe ff ff ff, answer 4, pieces 1, number 1, size 2; a part of such a datagram
///
/// A request without the challenge of its address is answered with CHALLENGE alone, which is never
/// longer than the request. So nobody makes the server send more than it is sent to an address that
/// has not asked. Nothing is stored for it: a challenge is a keyed hash of address and time.
#pragma once

#include "hindcast/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HC_SV_QUERY_REQUEST_MAX = 64,   ///< bytes; a longer datagram is no request
    HC_SV_QUERY_CHALLENGE_SIZE = 9, ///< bytes of a CHALLENGE
    HC_SV_QUERY_ANSWER_MAX = 16384, ///< bytes
    HC_SV_QUERY_PIECE_MAX = 1200,   ///< bytes of a datagram
    HC_SV_QUERY_PLAYERS_MAX = 255,  ///< in an answer; more are left out
    HC_SV_QUERY_NAME_SIZE = 33,     ///< bytes of a player's name and its end
    HC_SV_QUERY_KEY_SIZE = 16,      ///< bytes
    HC_SV_QUERY_SLOT_US = 30000000, ///< A challenge holds in this slot of time and in the next.
};

enum hc_sv_query_kind {
    HC_SV_QUERY_NONE,
    HC_SV_QUERY_INFO,
    HC_SV_QUERY_PLAYERS,
    HC_SV_QUERY_RULES,
};

struct hc_sv_query {
    enum hc_sv_query_kind kind;
    uint32_t challenge; ///< 0: none
};

/// A server, for INFO. The texts are borrowed.
struct hc_sv_query_info {
    const char *name, *map, *folder, *game, *version, *tags;
    uint16_t port; ///< of the game
    uint32_t players, players_max, bots;
    bool password; ///< not everybody is admitted
};

struct hc_sv_query_player {
    char name[HC_SV_QUERY_NAME_SIZE];
    uint32_t seconds; ///< for which the player has been connected
};

struct hc_sv_query_rule {
    const char *name, *value;
};

/// Reads a request. HC_SV_QUERY_NONE: it is none, or is shorter than a CHALLENGE, so that it is not
/// answered.
struct hc_sv_query hc_sv_query_read(const uint8_t *bytes, size_t size);

/// The challenge of an address in the slot of `now_us`, never 0.
uint32_t hc_sv_query_challenge(const uint8_t key[static HC_SV_QUERY_KEY_SIZE],
                               const struct hc_address *from, uint64_t now_us);

/// Whether the request has the challenge of its address, of this slot or the one before.
bool hc_sv_query_is_proven(const struct hc_sv_query *query,
                           const uint8_t key[static HC_SV_QUERY_KEY_SIZE],
                           const struct hc_address *from, uint64_t now_us);

/// Writes a CHALLENGE.
void hc_sv_query_put_challenge(uint32_t challenge, uint8_t out[static HC_SV_QUERY_CHALLENGE_SIZE]);

/// Writes the answer to INFO; returns its size, bytes. A count above 255 is cut to 255.
size_t hc_sv_query_put_info(const struct hc_sv_query_info *info,
                            uint8_t out[static HC_SV_QUERY_ANSWER_MAX]);

/// Writes the answer to PLAYERS; returns its size, bytes. Of more than HC_SV_QUERY_PLAYERS_MAX the
/// last ones are left out.
size_t hc_sv_query_put_players(const struct hc_sv_query_player *players, uint32_t count,
                               uint8_t out[static HC_SV_QUERY_ANSWER_MAX]);

/// Writes the answer to RULES; returns its size, bytes. Those that have no room are left out.
size_t hc_sv_query_put_rules(const struct hc_sv_query_rule *rules, uint32_t count,
                             uint8_t out[static HC_SV_QUERY_ANSWER_MAX]);

/// The number of datagrams for an answer of `size` bytes: 1 if it fits one.
unsigned hc_sv_query_pieces(size_t size);

/// Writes datagram `number` of an answer, in [0, hc_sv_query_pieces); returns its size. `id` tells
/// the pieces of one answer from those of another.
size_t hc_sv_query_put_piece(const uint8_t *answer, size_t size, uint32_t id, unsigned number,
                             uint8_t out[static HC_SV_QUERY_PIECE_MAX]);
