/// Attacks without a session: amplification, forged and stolen handshakes, and costly CONNECTs.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/attack/attack.h"
#include "tests/attack/target.h"
#include "tests/sim/crypto_calls.h"

#include <string.h>

enum {
    SENT_MAX = 1500,                   ///< bytes of the longest datagram tried
    SILENT_MAX = 18 * HC_DATAGRAM_MAX, ///< bytes to a client that sends nothing after its handshake
    RESET_US = 10000,                  ///< between two RESETs to one address
    TICK_US = 16667,
    SECOND_US = 1000000,
    CONNECT_TOKEN_AT = 52,
    CONNECT_PROOF_AT = HC_DATAGRAM_CONNECT_SIZE - HC_PROOF_SIZE,
};

/// Another address for each number.
static struct hc_address address_of(uint32_t number) {
    return hc_address_ipv4((uint8_t)(11 + (number >> 24)), (uint8_t)(number >> 16),
                           (uint8_t)(number >> 8), (uint8_t)number,
                           (uint16_t)(1024 + number % 60000));
}

static void noise(struct hc_rng *rng, uint8_t *out, size_t size) {
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)hc_rng_next(rng);
}

static bool is_admitted(const struct raw_client *raw) {
    return hc_datagram_kind(raw->answer, raw->size) == HC_DATAGRAM_ACCEPT;
}

/// Sends CLOSE.
/// Whether the session lives: the server accepts its DATA.
static bool is_connected(struct raw_client *raw, uint64_t now_us) {
    return raw_client_send_data(raw, NULL, 0, now_us) == HC_OK;
}

// ---- Amplification ------------------------------------------------------------------------------

/// The bytes behind the kind, up to the datagram's size.
enum content {
    CONTENT_ZEROS,
    CONTENT_NOISE,
    CONTENT_HELLO,   ///< of this build
    CONTENT_BUILD,   ///< of another build
    CONTENT_VERSION, ///< of another version of the protocol
    CONTENT_LIVE,    ///< a DATA of a session, but not sealed with its keys
    CONTENT_UNKNOWN, ///< a DATA of no session
    CONTENT_COOKIE,  ///< a CONNECT with a cookie and without a token, after a HELLO
    CONTENT_PROVEN,  ///< a CONNECT with all that it needs
    CONTENTS
};

struct sweep {
    struct attack *attack;
    struct raw_host target;
    struct raw_client live;
    struct hc_rng rng;
    uint32_t number; ///< of the address used last
};

static void fill(struct sweep *sweep, const struct raw_client *raw, enum content content,
                 uint8_t bytes[static SENT_MAX]) {
    struct hc_hello hello = {.protocol_id = raw->endpoint.protocol_id};
    struct hc_data data = {.cid = content == CONTENT_LIVE ? sweep->live.cid : 0x7654321 + 4096,
                           .seq = sweep->live.seq + 1 + sweep->number % 7};
    memset(bytes, 0, SENT_MAX);
    if (content == CONTENT_NOISE)
        noise(&sweep->rng, bytes, SENT_MAX);
    if (content == CONTENT_HELLO || content == CONTENT_BUILD || content == CONTENT_VERSION) {
        hello.protocol_id += content == CONTENT_BUILD;
        memcpy(hello.client_nonce, raw->cookie.client_nonce, HC_NONCE_SIZE);
        hc_datagram_put_hello(&hello, bytes);
        bytes[HC_MAGIC_SIZE] = content == CONTENT_VERSION ? '0' : bytes[HC_MAGIC_SIZE];
    }
    if (content == CONTENT_LIVE || content == CONTENT_UNKNOWN)
        hc_datagram_put_data(&data, bytes);
    if (content == CONTENT_COOKIE || content == CONTENT_PROVEN)
        raw_client_write_connect(raw, 1, bytes);
    if (content == CONTENT_COOKIE)
        noise(&sweep->rng, bytes + CONNECT_TOKEN_AT + 12, HC_TOKEN_SIZE - 12);
}

/// Compares the bytes that an address was sent with those that it sent: at most `most` times as
/// many.
static void compare_bytes(struct sweep *sweep, const struct raw_client *raw, uint64_t most) {
    double in = (double)raw->bytes_in, out = (double)raw->bytes_out;
    double ratio = in > 0 ? out / in : out;
    attack_try(sweep->attack, raw->bytes_out > most * raw->bytes_in);
    if (ratio > sweep->attack->amplification)
        sweep->attack->amplification = ratio;
}

static void try_datagram(struct sweep *sweep, enum content content, uint8_t kind, size_t size) {
    uint8_t bytes[SENT_MAX];
    struct raw_client raw;
    sweep->number++;
    sweep->target.now_us += RESET_US;
    raw_client_begin(&raw, sweep->target.host, address_of(sweep->number), sweep->number,
                     sweep->number);
    if (content == CONTENT_COOKIE || content == CONTENT_PROVEN)
        attack_require(sweep->attack, raw_client_hello(&raw, sweep->target.now_us), "no cookie");
    fill(sweep, &raw, content, bytes);
    bytes[0] = kind;
    raw_client_send(&raw, bytes, size, sweep->target.now_us);
    compare_bytes(sweep, &raw, 1);
}

/// Creates a target with one session.
static void create_with_session(struct sweep *sweep) {
    sweep->target = target_create(16);
    raw_client_begin(&sweep->live, sweep->target.host, address_of(1), 1, 1);
    attack_require(sweep->attack, raw_client_join(&sweep->live, 1, sweep->target.now_us),
                   "no client can join");
}

/// Sends sealed datagrams of a session from unvalidated addresses; each time of a new session,
/// because the server limits the challenges of one.
static void send_from_elsewhere(struct sweep *sweep) {
    enum { PLACES = 200, TIMES = 3 };
    for (uint32_t i = 0; i < PLACES; i++) {
        raw_host_destroy(&sweep->target);
        create_with_session(sweep);
        struct raw_client elsewhere = {.host = sweep->target.host,
                                       .address = address_of(++sweep->number)};
        uint32_t times = i % 20 == 0 ? 30 : 1 + i % 3;
        for (uint32_t n = 0; n < times; n++) {
            uint8_t bytes[HC_DATAGRAM_MAX];
            size_t size = raw_client_seal(&sweep->live, NULL, 0, bytes);
            enum hc_status status = raw_client_send(&elsewhere, bytes, size, sweep->target.now_us);
            attack_require(sweep->attack, status == HC_OK, "a session's own DATA was refused");
            raw_host_run(&sweep->target, TICK_US, &elsewhere);
            compare_bytes(sweep, &elsewhere, TIMES);
        }
        raw_host_run(&sweep->target, SECOND_US / 5,
                     &elsewhere); // longer than the interval of challenges
        compare_bytes(sweep, &elsewhere, TIMES);
        attack_require(sweep->attack, elsewhere.bytes_out > 0, "an address gets no PATH_CHALLENGE");
    }
}

void attack_amplification(struct attack *attack) {
    static const uint8_t kinds[] = {0, 1, 2, 3, 4, 5, 6, 0x40, 0x41, 0x7f, 0xff};
    struct sweep sweep = {.attack = attack, .rng = hc_rng_init(1, 1), .number = 1};
    attack->amplification = 0;
    create_with_session(&sweep);
    for (enum content content = 0; content < CONTENTS; content++)
        for (unsigned k = 0; k < sizeof kinds; k++)
            for (size_t size = 0; size <= SENT_MAX; size++)
                try_datagram(&sweep, content, kinds[k], size);
    double handshakes = attack->amplification;
    attack->amplification = 0;
    send_from_elsewhere(&sweep);
    double migration = attack->amplification;
    attack->amplification = handshakes > migration ? handshakes : migration;

    struct raw_client silent;
    raw_client_begin(&silent, sweep.target.host, address_of(2), 2, 2);
    attack_require(attack, raw_client_join(&silent, 1, sweep.target.now_us), "no client can join");
    raw_host_run(&sweep.target, 13 * SECOND_US, &silent);
    uint64_t until_dropped = silent.bytes_out;
    raw_host_run(&sweep.target, 5 * SECOND_US, &silent);
    attack_require(attack, silent.bytes_out == until_dropped,
                   "the server still sends to a silent client");
    attack_require(attack, until_dropped <= SILENT_MAX, "%llu bytes go to a silent client",
                   (unsigned long long)until_dropped);
    attack_effect(attack, "handshakes %.2f, migration %.2f; a proven one that is silent: %.0f kB",
                  handshakes, migration, (double)until_dropped / 1000);
    raw_host_destroy(&sweep.target);
    attack_require_none(attack, 100000);
}

// ---- A victim's address -------------------------------------------------------------------------

/// Sends a datagram that any stranger can send in the name of `victim`.
static void send_in_name_of(struct attack *attack, struct raw_host *target,
                            const struct raw_client *victim, struct hc_rng *rng, unsigned n) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address from = victim->address;
    size_t size = n % 2 == 0 ? HC_DATAGRAM_MAX : 21 + hc_rng_below(rng, 1179);
    struct hc_data data = {.cid = n % 3 == 0 ? victim->cid : (uint32_t)hc_rng_next(rng),
                           .seq = 1 + hc_rng_below(rng, 1000)};
    struct hc_hello hello = {.protocol_id = victim->endpoint.protocol_id + n % 2};
    if (n % 4 == 0)
        from.port = (uint16_t)(1 + hc_rng_below(rng, 65535));
    noise(rng, bytes, sizeof bytes);
    noise(rng, hello.client_nonce, HC_NONCE_SIZE);
    switch (n % 5) {
    case 0: // also with the victim's nonce
        if (n % 10 == 0)
            memcpy(hello.client_nonce, victim->cookie.client_nonce, HC_NONCE_SIZE);
        size = hc_datagram_put_hello(&hello, bytes);
        break;
    case 1: // with a random cookie
        raw_client_write_connect(victim, 1, bytes);
        noise(rng, bytes + 36, HC_COOKIE_SIZE);
        break;
    case 2:
        hc_datagram_put_data(&data, bytes);
        size = size < 33 ? 33 : size;
        break;
    default:
        bytes[0] = (uint8_t)(n % 10 < 5 ? 1 + n % 6 : 0x40 + n % 2);
        memcpy(bytes + 1, HC_DATAGRAM_MAGIC, HC_MAGIC_SIZE);
    }
    struct raw_client spoofer = {.host = target->host, .address = from};
    raw_client_send(&spoofer, bytes, size, target->now_us);
    attack_try(attack, is_admitted(&spoofer));
}

void attack_victim_address(struct attack *attack) {
    enum { JOINS = 100, JUNK = 100 };
    struct raw_host target = target_create(8);
    struct hc_rng rng = hc_rng_init(2, 1);
    struct raw_client victim;
    unsigned joined = 0, stayed = 0;
    for (unsigned i = 0; i < JOINS; i++) {
        struct hc_address address = hc_address_ipv4(192, 0, 2, 7, (uint16_t)(4000 + i % 3));
        raw_client_begin(&victim, target.host, address, 1, 1000 + i);
        for (unsigned n = 0; n < JUNK / 2; n++)
            send_in_name_of(attack, &target, &victim, &rng, n);
        joined += raw_client_join(&victim, 1, target.now_us);
        raw_host_run(&target, SECOND_US / 10, NULL);
        for (unsigned n = 0; n < JUNK / 2; n++)
            send_in_name_of(attack, &target, &victim, &rng, n);
        stayed += is_connected(&victim, target.now_us);
        raw_client_leave(&victim, target.now_us);
        raw_host_run(&target, SECOND_US, NULL); // a user may connect once a second
    }
    attack_effect(attack, "joined %u of %u, %u sessions ended", joined, JOINS, joined - stayed);
    attack_require(attack, joined == JOINS, "the victim joined %u of %u times", joined, JOINS);
    attack_require(attack, stayed == JOINS, "%u sessions of the victim ended", JOINS - stayed);
    attack_require_none(attack, 10000);
    raw_host_destroy(&target);
}

// ---- Cookies ------------------------------------------------------------------------------------

/// Sends CONNECT as `raw`, which has changed since its cookie was made.
static void use_cookie(struct attack *attack, struct raw_client raw, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    raw_client_write_connect(&raw, 1, bytes);
    raw_client_send(&raw, bytes, sizeof bytes, now_us);
    attack_try(attack, is_admitted(&raw));
    attack_require(attack, raw.size == 0, "a foreign cookie was answered");
}

/// Changes each bit that a cookie is bound to, one after another.
static void misuse_cookie(struct attack *attack, const struct raw_client *owner, uint64_t now_us) {
    for (unsigned bit = 0; bit < 128; bit++) {
        uint8_t turned = (uint8_t)(1u << bit % 8);
        struct raw_client other = *owner;
        other.address.ip[bit / 8] ^= turned;
        use_cookie(attack, other, now_us);
        other = *owner;
        other.address.port ^= (uint16_t)(1u << bit % 16);
        use_cookie(attack, other, now_us);
        other = *owner;
        other.cookie.client_nonce[bit / 8] ^= turned;
        use_cookie(attack, other, now_us);
        other = *owner;
        other.cookie.cookie[bit / 8] ^= turned;
        use_cookie(attack, other, now_us);
        other = *owner;
        other.cookie.slot ^= UINT32_C(1) << bit % 32;
        use_cookie(attack, other, now_us);
    }
}

void attack_cookie(struct attack *attack) {
    enum { OWNERS = 20, AGES = 20 };
    struct raw_host target = target_create(64);
    struct raw_client owner, late;
    unsigned joined = 0;
    for (uint32_t i = 1; i <= OWNERS; i++) {
        // A cookie from the beginning of a slot is valid in that slot and the next.
        target.now_us += HC_COOKIE_SLOT_US - target.now_us % HC_COOKIE_SLOT_US;
        raw_client_begin(&owner, target.host, address_of(i), i, i);
        raw_client_begin(&late, target.host, address_of(1000 + i), 1000 + i, 1000 + i);
        attack_require(attack,
                       raw_client_hello(&owner, target.now_us) &&
                           raw_client_hello(&late, target.now_us),
                       "no cookie");
        misuse_cookie(attack, &owner, target.now_us + i);
        for (unsigned n = 0; n < AGES; n++)
            use_cookie(attack, late,
                       target.now_us + 2 * (uint64_t)HC_COOKIE_SLOT_US + n * n * 1000000);
        joined += raw_client_connect(&owner, 1, target.now_us + 2 * HC_COOKIE_SLOT_US - 1) ==
                  HC_DATAGRAM_ACCEPT;
    }
    attack_effect(attack, "owners joined %u of %u, 20 s old", joined, OWNERS);
    attack_require(attack, joined == OWNERS, "%u of %u owners joined", joined, OWNERS);
    attack_require_none(attack, 10000);
    raw_host_destroy(&target);
}

// ---- Tokens -------------------------------------------------------------------------------------

/// Sends a CONNECT of a thief that has seen the owner's datagrams and does not know its secret.
static void use_stolen_token(struct attack *attack, const struct raw_client *owner,
                             struct raw_client *thief, unsigned how, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE], copied[HC_DATAGRAM_CONNECT_SIZE];
    raw_client_write_connect(owner, 1, copied);
    raw_client_write_connect(thief, 1, bytes); // with a proof by a secret of its own
    switch (how % 4) {
    case 0:
        memcpy(bytes, copied, sizeof bytes);
        break;
    case 1:
        memcpy(bytes + CONNECT_PROOF_AT, copied + CONNECT_PROOF_AT, HC_PROOF_SIZE);
        break;
    case 2:
        memset(bytes + CONNECT_PROOF_AT, 0, HC_PROOF_SIZE);
        break;
    default:
        break;
    }
    raw_client_send(thief, bytes, sizeof bytes, now_us);
    attack_try(attack, is_admitted(thief));
    if (hc_datagram_kind(thief->answer, thief->size) == HC_DATAGRAM_DENY)
        attack_require(attack,
                       hc_token_check_deny_mac(owner->endpoint.credential.secret, thief->answer) !=
                           HC_OK,
                       "a thief received a DENY that the owner accepts");
}

void attack_stolen_token(struct attack *attack) {
    enum { OWNERS = 250, THEFTS = 20 };
    struct raw_host target = target_create(8);
    struct raw_client owner, thief;
    unsigned joined = 0, stayed = 0;
    for (uint32_t i = 1; i <= OWNERS; i++) {
        raw_client_begin(&owner, target.host, address_of(i), i, i);
        raw_client_begin(&thief, target.host, address_of(100000 + i), i, 100000 + i);
        attack_require(attack,
                       raw_client_hello(&owner, target.now_us) &&
                           raw_client_hello(&thief, target.now_us),
                       "no cookie");
        hc_endpoint_compute_key(&owner.endpoint);
        hc_endpoint_compute_key(&thief.endpoint);
        // The thief copies the token from the wire, which does not carry the secret.
        memcpy(thief.endpoint.credential.token, owner.endpoint.credential.token, HC_TOKEN_SIZE);
        for (unsigned n = 0; n < THEFTS; n++)
            use_stolen_token(attack, &owner, &thief, n, target.now_us);
        joined += raw_client_connect(&owner, 1, target.now_us) == HC_DATAGRAM_ACCEPT;
        for (unsigned n = 0; n < THEFTS; n++)
            use_stolen_token(attack, &owner, &thief, n, target.now_us + n * 100000);
        stayed += is_connected(&owner, target.now_us);
        raw_client_leave(&owner, target.now_us);
        for (unsigned n = 0; n < THEFTS; n++)
            use_stolen_token(attack, &owner, &thief, n, target.now_us + n * 100000);
        raw_host_run(&target, SECOND_US / 10, NULL);
    }
    attack_effect(attack, "owners joined %u of %u, %u sessions ended", joined, OWNERS,
                  joined - stayed);
    attack_require(attack, joined == OWNERS && stayed == OWNERS,
                   "%u of %u owners joined, %u stayed", joined, OWNERS, stayed);
    attack_require_none(attack, 10000);
    raw_host_destroy(&target);
}

/// The fault of a token that its owner uses.
enum misuse { MISUSE_EXPIRED, MISUSE_AUDIENCE, MISUSE_KEY, MISUSE_KEY_ID, MISUSE_BUILD, MISUSES };

static void misuse(struct attack *attack, struct raw_host *target, enum misuse what,
                   uint32_t number) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token_key key = ring.keys[0];
    struct hc_token token = raw_client_token(number);
    struct raw_client raw;
    if (what == MISUSE_EXPIRED)
        token.expire_s = HC_TEST_UNIX_S - number % 100;
    if (what == MISUSE_AUDIENCE)
        token.audience = 1 + number;
    if (what == MISUSE_KEY)
        key.key[number % HC_TOKEN_KEY_SIZE] ^= (uint8_t)(1u << number % 8);
    if (what == MISUSE_KEY_ID)
        key.id = (uint8_t)(key.id + 1 + number % 255);
    raw_client_begin_as(&raw, target->host, address_of(number), &key, &token, number);
    if (what == MISUSE_BUILD)
        hc_token_seal(&key, raw.endpoint.protocol_id ^ UINT64_C(1) << number % 64, &token,
                      (const uint8_t[HC_TOKEN_NONCE_SIZE]){1}, raw.endpoint.credential.token);
    attack_require(attack, raw_client_hello(&raw, target->now_us), "no cookie");
    attack_try(attack, raw_client_connect(&raw, 1, target->now_us) != HC_DATAGRAM_DENY);
}

/// Uses a token again: from another address while its owner plays, and after it left.
static void use_twice(struct attack *attack, struct raw_host *target, uint32_t number) {
    struct raw_client first, again;
    raw_client_begin(&first, target->host, address_of(number), number, number);
    attack_require(attack, raw_client_join(&first, 1, target->now_us), "the first use was refused");
    raw_host_run(target, TICK_US, NULL);
    for (uint32_t n = 1; n <= 4; n++) {
        raw_client_begin(&again, target->host, address_of(number + n * 10000), number,
                         number + n * 10000);
        again.endpoint.credential = first.endpoint.credential;
        attack_require(attack, raw_client_hello(&again, target->now_us), "no cookie");
        if (n == 3) {
            attack_require(attack, is_connected(&first, target->now_us), "the first session ended");
            raw_client_leave(&first, target->now_us);
            raw_host_run(target, TICK_US, NULL);
        }
        attack_try(attack, raw_client_connect(&again, 1, target->now_us) == HC_DATAGRAM_ACCEPT);
    }
    attack_require(attack, hc_server_clients(target->host) == 0, "a client is left");
}

void attack_misused_token(struct attack *attack) {
    enum { EACH = 1000, TWICE = 250 };
    struct raw_host target = target_create(64);
    for (enum misuse what = 0; what < MISUSES; what++)
        for (uint32_t n = 0; n < EACH; n++)
            misuse(attack, &target, what, 1 + what * EACH + n);
    for (uint32_t n = 0; n < TWICE; n++)
        use_twice(attack, &target, 1 + MISUSES * EACH + n);
    attack_effect(attack, "first uses joined %u of %u", TWICE, TWICE);
    attack_require_none(attack, 5000);
    raw_host_destroy(&target);
}

void attack_connect_flips(struct attack *attack) {
    struct raw_host target = target_create(8);
    struct raw_client owner;
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    raw_client_begin(&owner, target.host, address_of(1), 1, 1);
    attack_require(attack, raw_client_hello(&owner, target.now_us), "no cookie");
    raw_client_write_connect(&owner, 1, bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        raw_client_send(&owner, bytes, sizeof bytes, target.now_us);
        attack_try(attack, is_admitted(&owner));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    bool joined = raw_client_connect(&owner, 1, target.now_us) == HC_DATAGRAM_ACCEPT;
    attack_effect(attack, "the unchanged CONNECT was admitted");
    attack_require(attack, joined, "the owner was not admitted");
    attack_require_none(attack, 8 * sizeof bytes);
    raw_host_destroy(&target);
}

// ---- Work ---------------------------------------------------------------------------------------

/// Sends a datagram; returns the server's operations on the curve for it.
static uint32_t count_curve_operations(struct raw_client *raw, const uint8_t *bytes, size_t size,
                                       uint64_t now_us) {
    uint32_t before = hc_crypto_calls().curve;
    raw_client_send(raw, bytes, size, now_us);
    return hc_crypto_calls().curve - before;
}

/// Sends invalid CONNECTs, and one with an expired token; none may cost an operation.
static void try_bad_connects(struct attack *attack, struct raw_host *target, struct hc_rng *rng,
                             uint32_t number) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token expired = raw_client_token(2 + number);
    struct raw_client raw;
    uint8_t bytes[HC_DATAGRAM_MAX];
    expired.expire_s = HC_TEST_UNIX_S;
    raw_client_begin(&raw, target->host, address_of(number), 2 + number, 2 + number);
    attack_require(attack, raw_client_hello(&raw, target->now_us), "no COOKIE");
    static const struct {
        size_t from, size;
    } spoilt[] = {{36, HC_COOKIE_SIZE},
                  {CONNECT_TOKEN_AT, HC_TOKEN_SIZE},
                  {301, 32},
                  {CONNECT_PROOF_AT, HC_PROOF_SIZE}};
    for (unsigned i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
        raw_client_write_connect(&raw, 1, bytes);
        noise(rng, bytes + spoilt[i].from, spoilt[i].size);
        attack_try(attack, count_curve_operations(&raw, bytes, sizeof bytes, target->now_us) > 0);
    }
    struct raw_client late = raw;
    raw_client_begin_as(&late, target->host, raw.address, &ring.keys[0], &expired, 2 + number);
    attack_require(attack, raw_client_hello(&late, target->now_us), "no COOKIE");
    raw_client_write_connect(&late, 1, bytes);
    attack_try(attack, count_curve_operations(&late, bytes, sizeof bytes, target->now_us) > 0);
}

void attack_curve(struct attack *attack) {
    enum { HELLOS = 20000, CONNECTS = 1000, EXCHANGE = 2 };
    struct raw_host target = target_create(4);
    struct hc_rng rng = hc_rng_init(36, 1);
    struct raw_client honest;
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (uint32_t i = 0; i < HELLOS; i++) {
        struct raw_client stranger = {.host = target.host, .address = address_of(i)};
        struct hc_hello hello = {.protocol_id = hc_test_protocol_id(&hc_arena)};
        noise(&rng, hello.client_nonce, HC_NONCE_SIZE);
        size_t size = hc_datagram_put_hello(&hello, bytes);
        attack_try(attack, count_curve_operations(&stranger, bytes, size, target.now_us) > 0);
    }
    for (uint32_t i = 0; i < CONNECTS; i++)
        try_bad_connects(attack, &target, &rng, i);
    raw_client_begin(&honest, target.host, address_of(CONNECTS), 1, 1);
    attack_require(attack, raw_client_hello(&honest, target.now_us), "no COOKIE");
    raw_client_write_connect(&honest, 1, bytes);
    uint32_t first = count_curve_operations(&honest, bytes, sizeof bytes, target.now_us);
    attack_require(attack, first == EXCHANGE && is_admitted(&honest), "%u operations for a join",
                   first);
    for (unsigned i = 0; i < CONNECTS; i++) // the stored ACCEPT is sent again
        attack_try(attack, count_curve_operations(&honest, bytes, sizeof bytes, target.now_us) > 0);
    attack_effect(attack, "%u operations for the admitted client, none for all others", first);
    attack_require_none(attack, HELLOS + 6 * CONNECTS);
    raw_host_destroy(&target);
}
