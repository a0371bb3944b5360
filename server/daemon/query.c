/// Owns the layouts of A2S and its challenges.
#include "server/daemon/query.h"

#include "common/bytes.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <string.h>

enum {
    WHOLE = -1, ///< first 4 bytes of a datagram that has all
    PIECE = -2, ///< first 4 bytes of a piece
    PIECE_HEADER = 12,
    PROTOCOL = 17,    ///< the version that servers of Source give
    HAS_PORT = 0x80,  ///< flag of INFO
    HAS_TAGS = 0x20,  ///< flag of INFO
    PLAYER_FIXED = 9, ///< bytes of a player beside its name
};

static const char words[] = "Source Engine Query"; // with its end

// ---- Requests -----------------------------------------------------------------------------------

_Static_assert(4 + 1 + sizeof(words) >= HC_SV_QUERY_CHALLENGE_SIZE, "CHALLENGE is no longer");

struct hc_sv_query hc_sv_query_read(const uint8_t *bytes, size_t size) {
    struct hc_reader reader = hc_bytes_reader(bytes, size);
    struct hc_sv_query query = {.kind = HC_SV_QUERY_NONE};
    if (size < HC_SV_QUERY_CHALLENGE_SIZE || size > HC_SV_QUERY_REQUEST_MAX ||
        hc_bytes_get_u32(&reader) != (uint32_t)WHOLE)
        return query;
    uint8_t kind = hc_bytes_get_u8(&reader);
    if (kind == 'T') {
        const uint8_t *text = hc_bytes_take(&reader, sizeof(words));
        if (text == NULL || memcmp(text, words, sizeof(words)) != 0)
            return query;
    }
    if (kind != 'T' || hc_bytes_left(&reader) > 0)
        query.challenge = hc_bytes_get_u32(&reader);
    if (reader.failed || hc_bytes_left(&reader) > 0)
        return query;
    query.kind = kind == 'T'   ? HC_SV_QUERY_INFO
                 : kind == 'U' ? HC_SV_QUERY_PLAYERS
                 : kind == 'V' ? HC_SV_QUERY_RULES
                               : HC_SV_QUERY_NONE;
    return query;
}

// ---- Challenges ---------------------------------------------------------------------------------

static uint32_t challenge_in(const uint8_t key[static HC_SV_QUERY_KEY_SIZE],
                             const struct hc_address *from, uint64_t slot) {
    uint8_t bytes[sizeof(from->ip) + 2 + 8], hash[crypto_shorthash_BYTES];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof(bytes));
    _Static_assert((int)crypto_shorthash_KEYBYTES == (int)HC_SV_QUERY_KEY_SIZE, "of SipHash");
    hc_bytes_put(&writer, from->ip, sizeof(from->ip));
    hc_bytes_put_u16(&writer, from->port);
    hc_bytes_put_u64(&writer, slot);
    crypto_shorthash(hash, bytes, sizeof(bytes), key);
    struct hc_reader reader = hc_bytes_reader(hash, sizeof(hash));
    uint32_t challenge = hc_bytes_get_u32(&reader);
    bool asks = challenge == 0 || challenge == UINT32_MAX; // so a browser asks for one
    return asks ? 1 : challenge;
}

uint32_t hc_sv_query_challenge(const uint8_t key[static HC_SV_QUERY_KEY_SIZE],
                               const struct hc_address *from, uint64_t now_us) {
    return challenge_in(key, from, now_us / HC_SV_QUERY_SLOT_US);
}

bool hc_sv_query_is_proven(const struct hc_sv_query *query,
                           const uint8_t key[static HC_SV_QUERY_KEY_SIZE],
                           const struct hc_address *from, uint64_t now_us) {
    uint64_t slot = now_us / HC_SV_QUERY_SLOT_US;
    return query->challenge == challenge_in(key, from, slot) ||
           (slot > 0 && query->challenge == challenge_in(key, from, slot - 1));
}

// ---- Answers ------------------------------------------------------------------------------------

static struct hc_writer begin(uint8_t *out, size_t size, uint8_t kind) {
    struct hc_writer writer = hc_bytes_writer(out, size);
    hc_bytes_put_u32(&writer, (uint32_t)WHOLE);
    hc_bytes_put_u8(&writer, kind);
    return writer;
}

static void put_text(struct hc_writer *writer, const char *text) {
    hc_bytes_put(writer, text, strlen(text) + 1);
}

static void put_small(struct hc_writer *writer, uint32_t number) {
    hc_bytes_put_u8(writer, number < UINT8_MAX ? (uint8_t)number : UINT8_MAX);
}

void hc_sv_query_put_challenge(uint32_t challenge, uint8_t out[static HC_SV_QUERY_CHALLENGE_SIZE]) {
    struct hc_writer writer = begin(out, HC_SV_QUERY_CHALLENGE_SIZE, 'A');
    hc_bytes_put_u32(&writer, challenge);
    HC_ASSERT(!writer.failed && writer.at == HC_SV_QUERY_CHALLENGE_SIZE);
}

size_t hc_sv_query_put_info(const struct hc_sv_query_info *info,
                            uint8_t out[static HC_SV_QUERY_ANSWER_MAX]) {
    struct hc_writer writer = begin(out, HC_SV_QUERY_ANSWER_MAX, 'I');
    hc_bytes_put_u8(&writer, PROTOCOL);
    put_text(&writer, info->name);
    put_text(&writer, info->map);
    put_text(&writer, info->folder);
    put_text(&writer, info->game);
    hc_bytes_put_u16(&writer, 0); // of no application of Steam
    put_small(&writer, info->players);
    put_small(&writer, info->players_max);
    put_small(&writer, info->bots);
    hc_bytes_put_u8(&writer, 'd'); // a dedicated server
    hc_bytes_put_u8(&writer, 'l'); // on Linux
    hc_bytes_put_u8(&writer, info->password);
    hc_bytes_put_u8(&writer, 0); // without VAC
    put_text(&writer, info->version);
    hc_bytes_put_u8(&writer, HAS_PORT | HAS_TAGS);
    hc_bytes_put_u16(&writer, info->port);
    put_text(&writer, info->tags);
    HC_ASSERT(!writer.failed);
    return writer.at;
}

/// The bits of a float of IEEE 754.
static uint32_t float_bits(float number) {
    uint32_t bits;
    _Static_assert(sizeof(bits) == sizeof(number), "of 32 bits");
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

size_t hc_sv_query_put_players(const struct hc_sv_query_player *players, uint32_t count,
                               uint8_t out[static HC_SV_QUERY_ANSWER_MAX]) {
    _Static_assert(6 + HC_SV_QUERY_PLAYERS_MAX * (PLAYER_FIXED + HC_SV_QUERY_NAME_SIZE) <=
                       HC_SV_QUERY_ANSWER_MAX,
                   "all have room");
    struct hc_writer writer = begin(out, HC_SV_QUERY_ANSWER_MAX, 'D');
    uint32_t most = count < HC_SV_QUERY_PLAYERS_MAX ? count : HC_SV_QUERY_PLAYERS_MAX;
    hc_bytes_put_u8(&writer, (uint8_t)most);
    for (uint32_t i = 0; i < most; i++) {
        hc_bytes_put_u8(&writer, 0);
        put_text(&writer, players[i].name);
        hc_bytes_put_u32(&writer, 0); // the score, which only the game knows
        hc_bytes_put_u32(&writer, float_bits((float)players[i].seconds));
    }
    HC_ASSERT(!writer.failed);
    return writer.at;
}

size_t hc_sv_query_put_rules(const struct hc_sv_query_rule *rules, uint32_t count,
                             uint8_t out[static HC_SV_QUERY_ANSWER_MAX]) {
    struct hc_writer writer = begin(out, HC_SV_QUERY_ANSWER_MAX, 'E');
    size_t count_at = writer.at;
    uint16_t written = 0;
    hc_bytes_put_u16(&writer, 0);
    for (uint32_t i = 0; i < count && written < UINT16_MAX; i++, written++) {
        struct hc_writer before = writer;
        put_text(&writer, rules[i].name);
        put_text(&writer, rules[i].value);
        if (!writer.failed)
            continue;
        writer = before;
        break;
    }
    struct hc_writer number = hc_bytes_writer(out + count_at, 2);
    hc_bytes_put_u16(&number, written);
    return writer.at;
}

// ---- Pieces -------------------------------------------------------------------------------------

enum { PART = HC_SV_QUERY_PIECE_MAX - PIECE_HEADER }; ///< bytes of an answer in a piece

unsigned hc_sv_query_pieces(size_t size) {
    return size <= HC_SV_QUERY_PIECE_MAX ? 1 : (unsigned)((size + PART - 1) / PART);
}

size_t hc_sv_query_put_piece(const uint8_t *answer, size_t size, uint32_t id, unsigned number,
                             uint8_t out[static HC_SV_QUERY_PIECE_MAX]) {
    unsigned pieces = hc_sv_query_pieces(size);
    HC_ASSERT(number < pieces && pieces <= UINT8_MAX);
    if (pieces == 1) {
        memcpy(out, answer, size);
        return size;
    }
    struct hc_writer writer = hc_bytes_writer(out, HC_SV_QUERY_PIECE_MAX);
    size_t from = (size_t)number * PART, left = size - from;
    hc_bytes_put_u32(&writer, (uint32_t)PIECE);
    hc_bytes_put_u32(&writer, id & INT32_MAX); // the highest bit says that it is compressed
    hc_bytes_put_u8(&writer, (uint8_t)pieces);
    hc_bytes_put_u8(&writer, (uint8_t)number);
    hc_bytes_put_u16(&writer, HC_SV_QUERY_PIECE_MAX);
    hc_bytes_put(&writer, answer + from, left < PART ? left : PART);
    HC_ASSERT(!writer.failed);
    return writer.at;
}
