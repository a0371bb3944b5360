/// Datagrams: encoding and decoding of their fixed layouts.
#include "proto/datagram.h"

#include "common/bytes.h"
#include "hindcast/check.h"

#include <string.h>
#include <xxhash.h>

enum {
    PREFIX_SIZE = 1 + HC_MAGIC_SIZE, ///< kind and magic
    VERSION_DIGITS = 2,              ///< at the end of the magic
    CONNECT_PLAYERS_AT = PREFIX_SIZE + 8 + HC_NONCE_SIZE + 4 + HC_COOKIE_SIZE + HC_TOKEN_SIZE,
};

_Static_assert(sizeof HC_DATAGRAM_MAGIC - 1 == HC_MAGIC_SIZE, "magic");
_Static_assert(PREFIX_SIZE + 8 + HC_NONCE_SIZE <= HC_DATAGRAM_HELLO_SIZE, "HELLO");
_Static_assert(PREFIX_SIZE + HC_NONCE_SIZE + 4 + HC_COOKIE_SIZE == HC_DATAGRAM_COOKIE_SIZE,
               "COOKIE");
_Static_assert(CONNECT_PLAYERS_AT + 1 + 4 + HC_EXCHANGE_KEY_SIZE + 851 + HC_PROOF_SIZE ==
                   HC_DATAGRAM_CONNECT_SIZE,
               "CONNECT");
_Static_assert(PREFIX_SIZE + 2 * HC_NONCE_SIZE + 4 + HC_EXCHANGE_KEY_SIZE == HC_ACCEPT_BODY_AT,
               "ACCEPT");
_Static_assert(PREFIX_SIZE + HC_NONCE_SIZE + 1 + 4 + HC_TAG_SIZE == HC_DATAGRAM_DENY_SIZE, "DENY");
_Static_assert(PREFIX_SIZE + 8 + HC_NONCE_SIZE == HC_DATAGRAM_VERSION_SIZE, "VERSION");
_Static_assert(1 + 4 + HC_RESET_TOKEN_SIZE == HC_DATAGRAM_RESET_SIZE, "RESET");
_Static_assert(1 + 4 + 4 == HC_DATA_CLEAR_SIZE && HC_DATA_BODY_MAX == 1167, "DATA");

uint64_t hc_datagram_protocol_id(const struct hc_game *game, uint64_t rule_hash) {
    uint8_t bytes[HC_MAGIC_SIZE + 8];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    hc_bytes_put(&writer, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
    hc_bytes_put_u64(&writer, rule_hash);
    return XXH3_64bits_withSeed(bytes, sizeof bytes, hc_game_hash(game));
}

enum hc_datagram_kind hc_datagram_kind(const uint8_t *bytes, size_t size) {
    if (size == 0)
        return HC_DATAGRAM_NONE;
    switch (bytes[0]) {
    case HC_DATAGRAM_HELLO:
    case HC_DATAGRAM_COOKIE:
    case HC_DATAGRAM_CONNECT:
    case HC_DATAGRAM_ACCEPT:
    case HC_DATAGRAM_DENY:
    case HC_DATAGRAM_VERSION:
    case HC_DATAGRAM_DATA:
    case HC_DATAGRAM_RESET:
        return (enum hc_datagram_kind)bytes[0];
    default:
        return HC_DATAGRAM_NONE;
    }
}

/// Starts a datagram of `size` bytes with its kind and the magic.
static struct hc_writer put_prefix(enum hc_datagram_kind kind, uint8_t *out, size_t size) {
    struct hc_writer writer = hc_bytes_writer(out, size);
    hc_bytes_put_u8(&writer, (uint8_t)kind);
    hc_bytes_put(&writer, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
    return writer;
}

/// Fills the rest with zeros and returns the whole size.
static size_t put_zeros(struct hc_writer *writer) {
    HC_ASSERT(!writer->failed);
    memset(writer->data + writer->at, 0, writer->size - writer->at);
    return writer->size;
}

/// Checks length, kind and the magic; the version digits are read next.
static enum hc_status get_prefix(struct hc_reader *reader, enum hc_datagram_kind kind,
                                 const uint8_t *bytes, size_t size, size_t least, size_t most) {
    if (size < least || size > most)
        return HC_TRUNCATED;
    *reader = hc_bytes_reader(bytes, size);
    if (hc_bytes_get_u8(reader) != kind)
        return HC_MALFORMED;
    const uint8_t *name = hc_bytes_take(reader, HC_MAGIC_SIZE - VERSION_DIGITS);
    if (memcmp(name, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE - VERSION_DIGITS) != 0)
        return HC_MALFORMED;
    return HC_OK;
}

/// Reads the version digits. False: they are another version's.
static bool get_version_digits(struct hc_reader *reader) {
    const uint8_t *digits = hc_bytes_take(reader, VERSION_DIGITS);
    const char *ours = &HC_DATAGRAM_MAGIC[HC_MAGIC_SIZE - VERSION_DIGITS];
    return memcmp(digits, ours, VERSION_DIGITS) == 0;
}

/// As get_prefix, for a kind that must be of this version.
static enum hc_status get_own_prefix(struct hc_reader *reader, enum hc_datagram_kind kind,
                                     const uint8_t *bytes, size_t size, size_t least, size_t most) {
    enum hc_status status = get_prefix(reader, kind, bytes, size, least, most);
    if (status == HC_OK && !get_version_digits(reader))
        return HC_MALFORMED;
    return status;
}

/// Reads `size` bytes. False: one is not zero.
static bool get_zeros(struct hc_reader *reader, size_t size) {
    const uint8_t *bytes = hc_bytes_take(reader, size);
    HC_ASSERT(bytes != NULL);
    uint8_t all = 0;
    for (size_t i = 0; i < size; i++)
        all |= bytes[i];
    return all == 0;
}

size_t hc_datagram_put_hello(const struct hc_hello *hello,
                             uint8_t out[static HC_DATAGRAM_HELLO_SIZE]) {
    struct hc_writer writer = put_prefix(HC_DATAGRAM_HELLO, out, HC_DATAGRAM_HELLO_SIZE);
    hc_bytes_put_u64(&writer, hello->protocol_id);
    hc_bytes_put(&writer, hello->client_nonce, HC_NONCE_SIZE);
    return put_zeros(&writer);
}

enum hc_status hc_datagram_get_hello(const uint8_t *bytes, size_t size, struct hc_hello *out) {
    struct hc_reader reader;
    enum hc_status status = get_prefix(&reader, HC_DATAGRAM_HELLO, bytes, size,
                                       HC_DATAGRAM_HELLO_SIZE, HC_DATAGRAM_HELLO_SIZE);
    if (status != HC_OK)
        return status;
    bool own = get_version_digits(&reader);
    struct hc_hello hello;
    hello.protocol_id = hc_bytes_get_u64(&reader);
    hc_bytes_get(&reader, hello.client_nonce, HC_NONCE_SIZE);
    if (own && !get_zeros(&reader, hc_bytes_left(&reader)))
        return HC_MALFORMED;
    *out = hello;
    return own ? HC_OK : HC_UNEXPECTED;
}

size_t hc_datagram_put_cookie(const struct hc_datagram_cookie *cookie,
                              uint8_t out[static HC_DATAGRAM_COOKIE_SIZE]) {
    struct hc_writer writer = put_prefix(HC_DATAGRAM_COOKIE, out, HC_DATAGRAM_COOKIE_SIZE);
    hc_bytes_put(&writer, cookie->client_nonce, HC_NONCE_SIZE);
    hc_bytes_put_u32(&writer, cookie->slot);
    hc_bytes_put(&writer, cookie->cookie, HC_COOKIE_SIZE);
    return put_zeros(&writer);
}

enum hc_status hc_datagram_get_cookie(const uint8_t *bytes, size_t size,
                                      struct hc_datagram_cookie *out) {
    struct hc_reader reader;
    enum hc_status status = get_own_prefix(&reader, HC_DATAGRAM_COOKIE, bytes, size,
                                           HC_DATAGRAM_COOKIE_SIZE, HC_DATAGRAM_COOKIE_SIZE);
    if (status != HC_OK)
        return status;
    hc_bytes_get(&reader, out->client_nonce, HC_NONCE_SIZE);
    out->slot = hc_bytes_get_u32(&reader);
    hc_bytes_get(&reader, out->cookie, HC_COOKIE_SIZE);
    return HC_OK;
}

size_t hc_datagram_put_connect(const struct hc_connect *connect,
                               uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]) {
    struct hc_writer writer = put_prefix(HC_DATAGRAM_CONNECT, out, HC_DATAGRAM_CONNECT_SIZE);
    hc_bytes_put_u64(&writer, connect->protocol_id);
    hc_bytes_put(&writer, connect->client_nonce, HC_NONCE_SIZE);
    hc_bytes_put_u32(&writer, connect->slot);
    hc_bytes_put(&writer, connect->cookie, HC_COOKIE_SIZE);
    hc_bytes_put(&writer, connect->token, HC_TOKEN_SIZE);
    hc_bytes_put_u8(&writer, connect->players);
    hc_bytes_put_u32(&writer, connect->continues);
    hc_bytes_put(&writer, connect->client_key, HC_EXCHANGE_KEY_SIZE);
    hc_bytes_put_u8(&writer, connect->extrapolations);
    HC_ASSERT(writer.at == HC_CONNECT_CONTINUE_PROOF_AT);
    return put_zeros(&writer);
}

enum hc_status hc_datagram_get_connect(const uint8_t *bytes, size_t size, struct hc_connect *out) {
    struct hc_reader reader;
    enum hc_status status = get_own_prefix(&reader, HC_DATAGRAM_CONNECT, bytes, size,
                                           HC_DATAGRAM_CONNECT_SIZE, HC_DATAGRAM_CONNECT_SIZE);
    if (status != HC_OK)
        return status;
    struct hc_connect connect;
    connect.protocol_id = hc_bytes_get_u64(&reader);
    hc_bytes_get(&reader, connect.client_nonce, HC_NONCE_SIZE);
    connect.slot = hc_bytes_get_u32(&reader);
    hc_bytes_get(&reader, connect.cookie, HC_COOKIE_SIZE);
    hc_bytes_get(&reader, connect.token, HC_TOKEN_SIZE);
    connect.players = hc_bytes_get_u8(&reader);
    connect.continues = hc_bytes_get_u32(&reader);
    hc_bytes_get(&reader, connect.client_key, HC_EXCHANGE_KEY_SIZE);
    connect.extrapolations = hc_bytes_get_u8(&reader);
    bool no_proof = get_zeros(&reader, HC_PROOF_SIZE);
    if (connect.extrapolations >> HC_EXTRAPOLATION_STEP != 0 ||
        (connect.continues == 0 && !no_proof) ||
        !get_zeros(&reader, hc_bytes_left(&reader) - HC_PROOF_SIZE))
        return HC_MALFORMED;
    *out = connect;
    return connect.players <= HC_OWN_PLAYERS_MAX ? HC_OK : HC_INVALID;
}

/// Appends a body, which may already lie there, and room for the tag.
static size_t put_body(struct hc_writer *writer, const uint8_t *body, size_t size) {
    HC_ASSERT(!writer->failed && size + HC_TAG_SIZE <= writer->size - writer->at);
    if (size > 0)
        memmove(writer->data + writer->at, body, size);
    writer->at += size;
    writer->size = writer->at + HC_TAG_SIZE;
    return put_zeros(writer);
}

/// Borrows the body, which ends before the tag.
static void get_body(struct hc_reader *reader, const uint8_t **body, size_t *size) {
    *size = hc_bytes_left(reader) - HC_TAG_SIZE;
    *body = hc_bytes_take(reader, *size);
}

size_t hc_datagram_put_accept(const struct hc_accept *accept, uint8_t out[static HC_DATAGRAM_MAX]) {
    struct hc_writer writer = put_prefix(HC_DATAGRAM_ACCEPT, out, HC_DATAGRAM_MAX);
    hc_bytes_put(&writer, accept->client_nonce, HC_NONCE_SIZE);
    hc_bytes_put(&writer, accept->server_nonce, HC_NONCE_SIZE);
    HC_ASSERT(accept->cid != 0);
    hc_bytes_put_u32(&writer, accept->cid);
    hc_bytes_put(&writer, accept->server_key, HC_EXCHANGE_KEY_SIZE);
    return put_body(&writer, accept->body, accept->body_size);
}

enum hc_status hc_datagram_get_accept(const uint8_t *bytes, size_t size, struct hc_accept *out) {
    struct hc_reader reader;
    enum hc_status status = get_own_prefix(&reader, HC_DATAGRAM_ACCEPT, bytes, size,
                                           HC_DATAGRAM_ACCEPT_SIZE, HC_DATAGRAM_ACCEPT_SIZE);
    if (status != HC_OK)
        return status;
    struct hc_accept accept;
    hc_bytes_get(&reader, accept.client_nonce, HC_NONCE_SIZE);
    hc_bytes_get(&reader, accept.server_nonce, HC_NONCE_SIZE);
    accept.cid = hc_bytes_get_u32(&reader);
    hc_bytes_get(&reader, accept.server_key, HC_EXCHANGE_KEY_SIZE);
    get_body(&reader, &accept.body, &accept.body_size);
    if (accept.cid == 0)
        return HC_MALFORMED;
    *out = accept;
    return HC_OK;
}

size_t hc_datagram_put_deny(const struct hc_deny *deny, uint8_t out[static HC_DATAGRAM_DENY_SIZE]) {
    struct hc_writer writer = put_prefix(HC_DATAGRAM_DENY, out, HC_DATAGRAM_DENY_SIZE);
    hc_bytes_put(&writer, deny->client_nonce, HC_NONCE_SIZE);
    hc_bytes_put_u8(&writer, (uint8_t)deny->reason);
    hc_bytes_put_u32(&writer, deny->retry_ms);
    return put_zeros(&writer);
}

bool hc_datagram_is_deny_reason(unsigned reason) {
    return (reason >= HC_DENY_FULL && reason < HC_DENY_REASONS_END) ||
           (reason >= HC_DENY_GAME && reason <= HC_DENY_GAME_LAST);
}

enum hc_status hc_datagram_get_deny(const uint8_t *bytes, size_t size, struct hc_deny *out) {
    struct hc_reader reader;
    enum hc_status status = get_own_prefix(&reader, HC_DATAGRAM_DENY, bytes, size,
                                           HC_DATAGRAM_DENY_SIZE, HC_DATAGRAM_DENY_SIZE);
    if (status != HC_OK)
        return status;
    struct hc_deny deny;
    hc_bytes_get(&reader, deny.client_nonce, HC_NONCE_SIZE);
    uint8_t reason = hc_bytes_get_u8(&reader);
    deny.retry_ms = hc_bytes_get_u32(&reader);
    if (reason == 0)
        return HC_MALFORMED;
    deny.reason = (enum hc_deny_reason)reason;
    *out = deny;
    return HC_OK;
}

static const struct {
    const char *word, *text;
} deny_reasons[HC_DENY_REASONS_END] = {
    [HC_DENY_FULL] = {"full", "the server is full (--max-clients)"},
    [HC_DENY_TOKEN] = {"token", "the server cannot open the token: it is of another key or of "
                                "another build, or damaged"},
    [HC_DENY_SHUTDOWN] = {"shutdown", "the server is shutting down"},
    [HC_DENY_LIMIT] = {"clients-per-address", "as many clients of this address as the server "
                                              "allows are connected (--clients-per-address)"},
    [HC_DENY_PLAYERS] = {"players", "the client wants more players, or to watch, "
                                    "than its token or the server allows "
                                    "(--players-per-client, --spectators)"},
    [HC_DENY_EXPIRED] = {"expired",
                         "the token has expired, or is of before what the server accepts "
                         "(--session-life, --refused)"},
    [HC_DENY_AUDIENCE] = {"audience", "the token is for another server (--audience)"},
    [HC_DENY_USED] = {"used", "the token has been used already: each opens one session"},
    [HC_DENY_CONNECTED] = {"connected", "the same user is connected already"},
    [HC_DENY_RATE] = {"connects-per-address",
                      "this address or user connects more often than the server "
                      "allows (--connects-per-address)"},
    [HC_DENY_REFUSED] = {"refused", "the server refuses this user (--refused)"},
    [HC_DENY_NAME] = {"name", "the name in the token cannot be shown"},
    [HC_DENY_OUTDATED] = {"outdated", "the token was issued before tokens that the server no "
                                      "longer remembers"},
    [HC_DENY_SPECTATORS] = {"spectators", "no place for a spectator is free (--spectators)"},
};

const char *hc_deny_word(enum hc_deny_reason reason) {
    if (!hc_datagram_is_deny_reason(reason))
        return "unknown";
    return reason >= HC_DENY_GAME ? "game" : deny_reasons[reason].word;
}

const char *hc_deny_text(enum hc_deny_reason reason) {
    if (!hc_datagram_is_deny_reason(reason))
        return "for a reason that this client does not know";
    return reason >= HC_DENY_GAME ? "the game refuses this user" : deny_reasons[reason].text;
}

size_t hc_datagram_put_version(const struct hc_version *version,
                               uint8_t out[static HC_DATAGRAM_VERSION_SIZE]) {
    struct hc_writer writer = put_prefix(HC_DATAGRAM_VERSION, out, HC_DATAGRAM_VERSION_SIZE);
    hc_bytes_put_u64(&writer, version->protocol_id);
    hc_bytes_put(&writer, version->client_nonce, HC_NONCE_SIZE);
    return put_zeros(&writer);
}

enum hc_status hc_datagram_get_version(const uint8_t *bytes, size_t size, struct hc_version *out) {
    struct hc_reader reader;
    enum hc_status status = get_prefix(&reader, HC_DATAGRAM_VERSION, bytes, size,
                                       HC_DATAGRAM_VERSION_SIZE, HC_DATAGRAM_VERSION_SIZE);
    if (status != HC_OK)
        return status;
    (void)hc_bytes_take(&reader, VERSION_DIGITS);
    out->protocol_id = hc_bytes_get_u64(&reader);
    hc_bytes_get(&reader, out->client_nonce, HC_NONCE_SIZE);
    return HC_OK;
}

size_t hc_datagram_put_data(const struct hc_data *data, uint8_t out[static HC_DATAGRAM_MAX]) {
    HC_ASSERT(data->seq != 0);
    struct hc_writer writer = hc_bytes_writer(out, HC_DATAGRAM_MAX);
    hc_bytes_put_u8(&writer, HC_DATAGRAM_DATA);
    hc_bytes_put_u32(&writer, data->cid);
    hc_bytes_put_u32(&writer, data->seq);
    hc_bytes_put_u32(&writer, data->ack);
    hc_bytes_put_u32(&writer, data->ack_bits);
    return put_body(&writer, data->body, data->body_size);
}

size_t hc_datagram_put_reset(const struct hc_reset *reset,
                             uint8_t out[static HC_DATAGRAM_RESET_SIZE]) {
    struct hc_writer writer = hc_bytes_writer(out, HC_DATAGRAM_RESET_SIZE);
    hc_bytes_put_u8(&writer, HC_DATAGRAM_RESET);
    hc_bytes_put_u32(&writer, reset->cid);
    hc_bytes_put(&writer, reset->token, HC_RESET_TOKEN_SIZE);
    HC_ASSERT(!writer.failed && writer.at == writer.size);
    return writer.at;
}

enum hc_status hc_datagram_get_reset(const uint8_t *bytes, size_t size, struct hc_reset *out) {
    if (size != HC_DATAGRAM_RESET_SIZE)
        return HC_TRUNCATED;
    struct hc_reader reader = hc_bytes_reader(bytes, size);
    if (hc_bytes_get_u8(&reader) != HC_DATAGRAM_RESET)
        return HC_MALFORMED;
    out->cid = hc_bytes_get_u32(&reader);
    hc_bytes_get(&reader, out->token, HC_RESET_TOKEN_SIZE);
    return HC_OK;
}

enum hc_status hc_datagram_get_data_clear(const uint8_t *bytes, size_t size, uint32_t *cid,
                                          uint32_t *seq) {
    if (size < HC_DATA_BODY_AT + HC_TAG_SIZE || size > HC_DATAGRAM_MAX)
        return HC_TRUNCATED;
    struct hc_reader reader = hc_bytes_reader(bytes, size);
    uint8_t kind = hc_bytes_get_u8(&reader);
    *cid = hc_bytes_get_u32(&reader);
    *seq = hc_bytes_get_u32(&reader);
    return kind == HC_DATAGRAM_DATA && *seq != 0 ? HC_OK : HC_MALFORMED;
}

enum hc_status hc_datagram_get_data(const uint8_t *bytes, size_t size, struct hc_data *out) {
    if (size < HC_DATA_BODY_AT + HC_TAG_SIZE || size > HC_DATAGRAM_MAX)
        return HC_TRUNCATED;
    struct hc_reader reader = hc_bytes_reader(bytes, size);
    if (hc_bytes_get_u8(&reader) != HC_DATAGRAM_DATA)
        return HC_MALFORMED;
    struct hc_data data;
    data.cid = hc_bytes_get_u32(&reader);
    data.seq = hc_bytes_get_u32(&reader);
    data.ack = hc_bytes_get_u32(&reader);
    data.ack_bits = hc_bytes_get_u32(&reader);
    get_body(&reader, &data.body, &data.body_size);
    if (data.seq == 0)
        return HC_MALFORMED;
    *out = data;
    return HC_OK;
}
