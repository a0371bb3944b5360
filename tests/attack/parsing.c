/// Hostile acks, bodies and names of a client that has a token and the keys, and hostile log lines.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/histogram.h"
#include "hindcast/rng.h"
#include "proto/name.h"
#include "proto/precheck.h"
#include "tests/attack/attack.h"
#include "tests/attack/memory_use.h"
#include "tests/attack/target.h"

#include <msgpack.h>
#include <string.h>

enum {
    SECOND_US = 1000000,
    SPACED_US = 9000, ///< between two datagrams, to stay below the limits
    MEMORY_MAX = 65536,
};

/// Joins a client, which receives some datagrams.
static void join(struct attack *attack, struct raw_host *target, struct raw_client *raw) {
    *target = target_create(8);
    raw_client_begin(raw, target->host, hc_address_ipv4(10, 0, 0, 1, 5000), 1, 1);
    attack_require(attack, raw_client_join(raw, 1, target->now_us), "no client can join");
    raw_host_run(target, SECOND_US, raw);
    attack_require(attack, raw->received > 10, "the server sends nothing");
}

// ---- Acknowledgements ---------------------------------------------------------------------------

void attack_acks(struct attack *attack) {
    enum { ROUNDS = 20000, BOUND_NS = 10000, TIMES_MAX = 10 };
    static struct hc_histogram took_ns;
    struct raw_host target;
    struct raw_client raw;
    join(attack, &target, &raw);
    uint32_t sent = raw.received;
    const struct {
        uint32_t ack, bits;
    } claims[] = {{0, 1},
                  {0, UINT32_MAX},
                  {sent + 1, 0},
                  {sent + 1, UINT32_MAX},
                  {sent, UINT32_MAX}, // fewer than 33 were sent of it
                  {(UINT32_C(1) << 31) - 1, 0},
                  {(UINT32_C(1) << 31) - 1, UINT32_MAX},
                  {UINT32_MAX, 0},
                  {UINT32_MAX, UINT32_MAX}};
    enum { CLAIMS = sizeof claims / sizeof claims[0] };
    memset(&took_ns, 0, sizeof took_ns);
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned c = 0; c < CLAIMS; c++) {
            uint8_t bytes[HC_DATAGRAM_MAX];
            if (claims[c].ack == sent && sent > 32)
                continue;
            raw.ack = claims[c].ack;
            raw.ack_bits = claims[c].bits;
            size_t size = raw_client_seal(&raw, NULL, 0, bytes);
            target.now_us += SPACED_US;
            double from = attack_cpu_us();
            enum hc_status status =
                hc_server_receive(target.host, &raw.address, bytes, size, target.now_us);
            hc_histogram_record(&took_ns, (uint64_t)((attack_cpu_us() - from) * 1000));
            attack_try(attack, status == HC_OK);
            attack_require(attack, status == HC_MALFORMED, "ack %u is refused as something else",
                           claims[c].ack);
        }
    }
    uint64_t p99 = hc_histogram_percentile(&took_ns, 990);
    attack_require(attack, p99 < BOUND_NS * TIMES_MAX, "one takes %llu ns",
                   (unsigned long long)p99);
    uint8_t bytes[HC_DATAGRAM_MAX];
    raw.ack = sent;
    raw.ack_bits = 0;
    size_t size = raw_client_seal(&raw, NULL, 0, bytes);
    attack_require(
        attack, hc_server_receive(target.host, &raw.address, bytes, size, target.now_us) == HC_OK,
        "what was sent cannot be acknowledged");
    attack_effect(attack, "one takes %.1f us (median), %.1f us (p99), opening it included",
                  (double)hc_histogram_percentile(&took_ns, 500) / 1000, (double)p99 / 1000);
    attack_require_none(attack, 100000);
    raw_host_destroy(&target);
}

// ---- Bombs --------------------------------------------------------------------------------------

#define BOMB(...)                                                                                  \
    { (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}) }

/// Few bytes that announce many.
static const struct bomb {
    const uint8_t *bytes;
    size_t size;
} bombs[] = {
    BOMB(0xdd, 0xff, 0xff, 0xff, 0xff),                   // array of 2^32 - 1
    BOMB(0xdd, 0x04, 0x00, 0x00, 0x00, 0x02),             // 1 GiB of values
    BOMB(0xdf, 0xff, 0xff, 0xff, 0xff),                   // map of 2^32 - 1
    BOMB(0xdf, 0x40, 0x00, 0x00, 0x00, 0x02),             //
    BOMB(0x92, 0x02, 0xdd, 0x7f, 0xff, 0xff, 0xff),       // inside a message
    BOMB(0x92, 0x02, 0xdc, 0xff, 0xff),                   // array of 65535
    BOMB(0x92, 0x02, 0xde, 0xff, 0xff),                   // map of 65535
    BOMB(0x92, 0x02, 0x8f, 0x01),                         //
    BOMB(0x92, 0x02, 0xc6, 0xff, 0xff, 0xff, 0xff),       // binary of 4 GiB
    BOMB(0x92, 0x02, 0xc5, 0xff, 0xff),                   // binary of 64 KiB
    BOMB(0x92, 0x02, 0xdb, 0xff, 0xff, 0xff, 0xff),       // string of 4 GiB
    BOMB(0x92, 0x02, 0xda, 0xff, 0xff),                   //
    BOMB(0x92, 0x02, 0xc9, 0xff, 0xff, 0xff, 0xff, 0x01), // extension of 4 GiB
    BOMB(0x92, 0x02, 0xc8, 0xff, 0xff, 0x01),             //
    BOMB(0x92, 0x02, 0xd8, 0x01),                         //
    BOMB(0x92, 0x02, 0xca, 0x7f, 0xc0, 0x00, 0x00),       // no number
    BOMB(0x92, 0x02, 0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0), // infinite
    BOMB(0x92, 0x08, 0xc1),                               // a byte that is never used
    BOMB(0x99, 0x02, 0x00),                               // values that are missing
    BOMB(0x92, 0x08, 0xa3, 0xed, 0xa0, 0x80),             // half a pair
};

/// Fills `out` with arrays inside one another, or beside one another, of every form.
static size_t nest(unsigned n, uint8_t out[static HC_DATA_BODY_MAX]) {
    static const uint8_t forms[][3] = {
        {0x91}, {0x92}, {0x9f}, {0xdc, 0x00, 0x01}, {0xdc, 0x00, 0x02}, {0x81}, {0xdc, 0x04, 0x00}};
    static const size_t sizes[] = {1, 1, 1, 3, 3, 1, 3};
    size_t used = 0, form = n % 7, most = n / 7 % 2 == 0 ? HC_DATA_BODY_MAX : 9 + n % 200;
    out[used++] = 0x92;
    out[used++] = (uint8_t)(1 + n % 9);
    while (used + 3 < most) {
        memcpy(out + used, forms[form], 3);
        used += sizes[form];
        if (n % 3 == 0)
            form = (form + n) % 7;
    }
    return used;
}

/// Draws bytes that resemble msgpack more than random ones.
static size_t resemble(struct hc_rng *rng, uint8_t *out, size_t most) {
    static const uint8_t tags[] = {0x90, 0x91, 0x92, 0x95, 0x9f, 0xdc, 0xdd, 0xdf, 0xc4, 0xc5,
                                   0xc6, 0xd9, 0xda, 0xdb, 0xa1, 0xa3, 0xc0, 0xc2, 0xc3, 0xcc,
                                   0xcd, 0xce, 0xcf, 0xd0, 0xd3, 0x00, 0x7f, 0xff, 0xe0, 0x02};
    size_t size = 1 + hc_rng_below(rng, (uint32_t)most);
    for (size_t i = 0; i < size; i++) {
        uint32_t kind = hc_rng_below(rng, 16);
        out[i] = kind == 0  ? (uint8_t)hc_rng_next(rng)
                 : kind < 5 ? (uint8_t)hc_rng_below(rng, 3)
                            : tags[hc_rng_below(rng, sizeof tags)];
    }
    return size;
}

struct cost {
    struct attack *attack;
    struct raw_host target;
    struct raw_client raw;
    uint64_t most;
};

/// Gives the server a sealed body, and counts the memory that it obtains.
static enum hc_status throw_body(struct cost *cost, const uint8_t *bytes, size_t size) {
    uint8_t sealed[HC_DATAGRAM_MAX];
    size_t whole = raw_client_seal(&cost->raw, bytes, size, sealed);
    cost->target.now_us += SPACED_US;
    uint64_t before = memory_asked();
    enum hc_status status = hc_server_receive(cost->target.host, &cost->raw.address, sealed, whole,
                                              cost->target.now_us);
    uint64_t took = memory_asked() - before;
    cost->most = took > cost->most ? took : cost->most;
    return status;
}

/// Counts the bodies, of `rounds`, that pass the precheck; msgpack-c must refuse none of these.
static unsigned differ(struct attack *attack, struct hc_rng *rng, unsigned rounds) {
    msgpack_zone zone;
    unsigned passed = 0;
    HC_ASSERT(msgpack_zone_init(&zone, 32768));
    for (unsigned i = 0; i < rounds; i++) {
        uint8_t bytes[48];
        size_t size = resemble(rng, bytes, sizeof bytes), used = 0, off = 0;
        msgpack_object object;
        bool passes = hc_precheck(bytes, size, &used) == HC_OK;
        attack->tries++;
        passed += passes;
        if (!passes)
            continue;
        msgpack_unpack_return result =
            msgpack_unpack((const char *)bytes, size, &off, &zone, &object);
        attack->accepted += off != used || (result != MSGPACK_UNPACK_SUCCESS &&
                                            result != MSGPACK_UNPACK_EXTRA_BYTES);
        msgpack_zone_clear(&zone);
    }
    msgpack_zone_destroy(&zone);
    return passed;
}

void attack_bombs(struct attack *attack) {
    enum { NESTS = 4000, RANDOM = 20000, DIFFER = 200000 };
    struct cost cost = {.attack = attack};
    struct hc_rng rng = hc_rng_init(41, 1);
    uint8_t bytes[HC_DATA_BODY_MAX];
    uint64_t before = memory_asked();
    join(attack, &cost.target, &cost.raw);
    attack_require(attack, memory_asked() - before > 100000, "memory is not seen");
    for (unsigned i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        attack_try(attack, throw_body(&cost, bombs[i].bytes, bombs[i].size) == HC_OK);
        memset(bytes, 0xc0, sizeof bytes); // and the same, padded to the largest body
        memcpy(bytes, bombs[i].bytes, bombs[i].size);
        attack_try(attack, throw_body(&cost, bytes, sizeof bytes) == HC_OK);
    }
    for (unsigned i = 0; i < NESTS; i++) {
        size_t size = nest(i, bytes);
        attack_try(attack, throw_body(&cost, bytes, size) == HC_OK);
    }
    for (unsigned i = 0; i < RANDOM; i++) {
        size_t size = resemble(&rng, bytes, sizeof bytes);
        (void)throw_body(&cost, bytes, size); // a few may be sound
    }
    attack_require(attack, cost.most <= MEMORY_MAX, "a datagram takes %llu bytes",
                   (unsigned long long)cost.most);
    unsigned passed = differ(attack, &rng, DIFFER);
    attack_require(attack, passed > DIFFER / 10, "only %u are sound", passed);
    attack_effect(attack, "a datagram takes %llu bytes at most; msgpack-c agrees on %u sound ones",
                  (unsigned long long)cost.most, passed);
    attack_require_none(attack, DIFFER);
    raw_host_destroy(&cost.target);
}

// ---- Names --------------------------------------------------------------------------------------

/// A UTF-8 sequence as RFC 3629, section 4, spells it: ranges of its bytes.
static const struct sequence {
    size_t size;
    uint8_t from[4], to[4];
} sequences[] = {
    {1, {0x00}, {0x7f}},
    {2, {0xc2, 0x80}, {0xdf, 0xbf}},
    {3, {0xe0, 0xa0, 0x80}, {0xe0, 0xbf, 0xbf}},
    {3, {0xe1, 0x80, 0x80}, {0xec, 0xbf, 0xbf}},
    {3, {0xed, 0x80, 0x80}, {0xed, 0x9f, 0xbf}},
    {3, {0xee, 0x80, 0x80}, {0xef, 0xbf, 0xbf}},
    {4, {0xf0, 0x90, 0x80, 0x80}, {0xf0, 0xbf, 0xbf, 0xbf}},
    {4, {0xf1, 0x80, 0x80, 0x80}, {0xf3, 0xbf, 0xbf, 0xbf}},
    {4, {0xf4, 0x80, 0x80, 0x80}, {0xf4, 0x8f, 0xbf, 0xbf}},
};

/// Bytes of the sequence that `bytes` begins with; 0: none.
static size_t sequence_size(const uint8_t *bytes, size_t size) {
    for (size_t s = 0; s < sizeof sequences / sizeof sequences[0]; s++) {
        size_t i = 0;
        while (i < sequences[s].size && i < size && bytes[i] >= sequences[s].from[i] &&
               bytes[i] <= sequences[s].to[i])
            i++;
        if (i == sequences[s].size)
            return i;
    }
    return 0;
}

static bool is_utf8(const uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size;) {
        size_t step = sequence_size(bytes + at, size - at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

struct names {
    struct attack *attack;
    struct raw_host target;
    uint32_t number;
    uint32_t connects; ///< handshakes with a bad name
};

/// Joins with this name in the token; returns whether it was admitted.
static bool enter(struct names *names, const uint8_t *name, size_t size) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = raw_client_token(++names->number);
    struct raw_client raw;
    memcpy(token.name, name, size);
    raw_client_begin_as(&raw, names->target.host,
                        hc_address_ipv4(10, (uint8_t)(names->number >> 16),
                                        (uint8_t)(names->number >> 8), (uint8_t)names->number,
                                        5000),
                        &ring.keys[0], &token, names->number);
    bool joined = raw_client_join(&raw, 0, names->target.now_us);
    struct hc_writer body;
    uint8_t bytes[16];
    body = hc_bytes_writer(bytes, sizeof bytes);
    hc_message_put_close(&body, &(struct hc_close){.reason = HC_CLOSE_LEFT});
    if (joined)
        raw_client_send_data(&raw, bytes, body.at, names->target.now_us);
    return joined;
}

/// Tries a bad part at the beginning, in the middle and at the end of a name, and alone.
static void strain(struct names *names, const uint8_t *part, size_t size) {
    for (unsigned where = 0; where < 4; where++) {
        uint8_t name[HC_NAME_MAX] = {0};
        size_t before = where == 1 || where == 2 ? 3 : 0, after = where == 0 || where == 1 ? 3 : 0;
        if (before + size + after > sizeof name)
            continue;
        memcpy(name, "abc", before);
        memcpy(name + before, part, size);
        memcpy(name + before + size, "xyz", after);
        size_t whole = before + size + after;
        attack_try(names->attack, hc_name_check(name, whole) == HC_OK);
        if (name[whole - 1] == 0) // a zero at the end is padding
            continue;
        attack_try(names->attack, enter(names, name, whole));
        names->connects++;
    }
}

/// Writes `point` in `size` bytes, more or fewer than it should have.
static void spell(uint32_t point, size_t size, uint8_t out[static 6]) {
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc};
    for (size_t i = size - 1; i > 0; i--, point >>= 6)
        out[i] = (uint8_t)(0x80 | (point & 0x3f));
    out[0] = (uint8_t)(leads[size] | point);
}

static void strain_point(struct names *names, uint32_t point, size_t size) {
    uint8_t bytes[6];
    spell(point, size, bytes);
    strain(names, bytes, size);
}

/// Tries everything that RFC 3629 forbids: stray bytes, truncated and overlong sequences,
/// surrogates, and points beyond the last.
static void strain_forms(struct names *names) {
    static const uint32_t short_points[] = {0, '/', 0x7f, 0x80, 0x7ff, 0x800, 0xffff};
    uint8_t bytes[8];
    for (unsigned byte = 0x80; byte <= 0xff; byte++) {
        bytes[0] = (uint8_t)byte;
        strain(names, bytes, 1);
    }
    memset(bytes, 0x80, sizeof bytes);
    for (size_t count = 2; count <= sizeof bytes; count++)
        strain(names, bytes, count);
    for (size_t size = 2; size <= 6; size++) {
        spell(size < 4 ? 0x7ff : 0x10000, size, bytes);
        for (size_t cut = 1; cut < size; cut++)
            strain(names, bytes, cut);
        spell(UINT32_MAX >> (size == 6 ? 1 : 32 - (5 * size + 1)), size, bytes);
        for (size_t cut = 1; cut < size; cut++)
            strain(names, bytes, cut);
        for (size_t i = 0; i < sizeof short_points / sizeof short_points[0]; i++)
            if (size > (short_points[i] < 0x80 ? 1u : short_points[i] < 0x800 ? 2u : 3u))
                strain_point(names, short_points[i], size);
    }
    for (uint32_t point = 0xd800; point < 0xe000; point += 0x7f)
        strain_point(names, point, 3);
    strain_point(names, 0xdfff, 3);
    for (uint32_t point = 0x110000; point < 0x200000; point += 0xffff)
        strain_point(names, point, 4);
    strain_point(names, 0x200000, 5);
    strain_point(names, 0x3ffffff, 5);
    strain_point(names, 0x4000000, 6);
    strain_point(names, 0x7fffffff, 6);
}

/// Tries valid characters that a name must not have: controls, those that reverse text, invisible
/// ones and noncharacters.
static void strain_characters(struct names *names) {
    static const uint32_t ranges[][2] = {
        {0x00, 0x1f},     {0x7f, 0xa0},     {0xad, 0xad},     {0x34f, 0x34f},
        {0x61c, 0x61c},   {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f},
        {0x205f, 0x2064}, {0x2066, 0x206f}, {0x2800, 0x2800}, {0x3000, 0x3000},
        {0xfdd0, 0xfdef}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfffe, 0xffff}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        for (uint32_t point = ranges[i][0]; point <= ranges[i][1]; point++)
            strain_point(names, point, point < 0x80 ? 1 : point < 0x800 ? 2 : 3);
    for (uint32_t plane = 1; plane <= 16; plane++) {
        strain_point(names, plane << 16 | 0xfffe, 4);
        strain_point(names, plane << 16 | 0xffff, 4);
    }
    strain_point(names, 0xe0001, 4);
    strain_point(names, 0xe0041, 4);
}

/// Requires that good names are admitted, among them the bounds of RFC 3629.
static unsigned welcome_names(struct names *names) {
    static const char *const good[] = {"a",
                                       "Zo\xc3\xab",
                                       "\xc2\xa1",
                                       "\xdf\xbf",
                                       "\xe0\xa4\x85",
                                       "\xed\x95\x9c",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbd",
                                       "\xf0\x9f\x90\x89",
                                       "${jndi:ldap://x}",
                                       "%n%s%n",
                                       "'; DROP TABLE",
                                       "name=\"x\" level=error"};
    unsigned count = sizeof good / sizeof good[0];
    for (unsigned i = 0; i < count; i++)
        attack_require(names->attack, enter(names, (const uint8_t *)good[i], strlen(good[i])),
                       "a good name was refused: %u", i);
    return count;
}

void attack_names(struct attack *attack) {
    enum { RANDOM = 300000 };
    struct names names = {.attack = attack, .target = target_create(8)};
    struct hc_rng rng = hc_rng_init(42, 1);
    strain_forms(&names);
    strain_characters(&names);
    for (unsigned i = 0; i < RANDOM; i++) {
        uint8_t name[HC_NAME_MAX];
        size_t size = 1 + hc_rng_below(&rng, 6);
        for (size_t k = 0; k < size; k++)
            name[k] = (uint8_t)(hc_rng_below(&rng, 3) == 0 ? 0x80 + hc_rng_below(&rng, 64)
                                                           : hc_rng_next(&rng));
        if (!is_utf8(name, size))
            attack_try(attack, hc_name_check(name, size) == HC_OK);
    }
    unsigned good = welcome_names(&names);
    attack_effect(attack, "%u of %u good names were admitted; %u handshakes with bad ones", good,
                  good, names.connects);
    attack_require_none(attack, 100000);
    raw_host_destroy(&names.target);
}

// ---- Lines of a log -----------------------------------------------------------------------------

/// Unescapes a text; returns the size, or SIZE_MAX if it is invalid.
static size_t read_back(const char *text, uint8_t out[static HC_NAME_MAX]) {
    static const char digits[] = "0123456789abcdef";
    size_t size = 0;
    for (; *text != 0 && size < HC_NAME_MAX; text++) {
        if (*text != '\\') {
            out[size++] = (uint8_t)*text;
            continue;
        }
        const char *high = text[1] == 'x' && text[2] != 0 ? strchr(digits, text[2]) : NULL;
        const char *low = high != NULL && text[3] != 0 ? strchr(digits, text[3]) : NULL;
        if (low == NULL)
            return SIZE_MAX;
        out[size++] = (uint8_t)((high - digits) << 4 | (low - digits));
        text += 3;
    }
    return *text == 0 ? size : SIZE_MAX;
}

void attack_log_lines(struct attack *attack) {
    enum { RANDOM = 200000 };
    static const char *const lines[] = {"x\nlevel=error event=stopped",
                                        "\r\n\r\n",
                                        "\x1b[2J\x1b]0;title\a",
                                        "%n%n%n%s%p",
                                        "${jndi:ldap://a.example/x}",
                                        "\" level=\"error",
                                        "\\x0a\\n",
                                        "`reboot`",
                                        "\xe2\x80\xae evil"};
    struct hc_rng rng = hc_rng_init(43, 1);
    for (unsigned i = 0; i < RANDOM; i++) {
        uint8_t name[HC_NAME_MAX], back[HC_NAME_MAX];
        char text[HC_NAME_ESCAPED_MAX];
        size_t size = hc_rng_below(&rng, HC_NAME_MAX + 1);
        for (size_t k = 0; k < size; k++)
            name[k] = (uint8_t)hc_rng_next(&rng);
        if (i < sizeof lines / sizeof lines[0]) {
            size = strlen(lines[i]) < HC_NAME_MAX ? strlen(lines[i]) : HC_NAME_MAX;
            memcpy(name, lines[i], size);
        }
        size_t used = hc_name_escape(name, size, text, sizeof text);
        bool harmless =
            used == size && read_back(text, back) == size && memcmp(back, name, size) == 0;
        for (const char *c = text; *c != 0; c++)
            harmless = harmless && *c >= ' ' && *c <= '~' && strchr("\"%$", *c) == NULL;
        attack_try(attack, !harmless);
    }
    attack_effect(attack, "each reads back as it was");
    attack_require_none(attack, 100000);
}
