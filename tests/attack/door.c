/// Before anybody is let in: what a stranger can make the server send, believe or give away.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/attack/attack.h"
#include "tests/attack/puppet.h"
#include "tests/sim/spy.h"

#include <string.h>

enum {
    TOLD_MAX = 1500,                   ///< bytes of the longest datagram tried
    SILENT_MAX = 18 * HC_DATAGRAM_MAX, ///< bytes to one of which nothing is ever heard
    RESET_US = 10000,                  ///< the server may answer so often what it knows nothing of
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

static bool let_in(const struct puppet *puppet) {
    return hc_datagram_kind(puppet->answer, puppet->size) == HC_DATAGRAM_ACCEPT;
}

/// Says goodbye.
static void leave(struct puppet *puppet, uint64_t now_us) {
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    hc_message_put_close(&body, HC_CLOSE_LEFT);
    puppet_data(puppet, bytes, body.at, now_us);
}

/// Whether its session goes on: something that it says is taken.
static bool lives(struct puppet *puppet, uint64_t now_us) {
    return puppet_data(puppet, NULL, 0, now_us) == HC_OK;
}

// ---- Amplification ------------------------------------------------------------------------------

/// What stands behind the kind, as far as the length goes.
enum content {
    CONTENT_ZEROS,
    CONTENT_NOISE,
    CONTENT_HELLO,   ///< of this build
    CONTENT_BUILD,   ///< of another build
    CONTENT_VERSION, ///< of another version of the protocol
    CONTENT_LIVE,    ///< a DATA of somebody's session, but not sealed by it
    CONTENT_UNKNOWN, ///< a DATA of no session
    CONTENT_COOKIE,  ///< a CONNECT with a cookie and without a token; HELLO was said before
    CONTENT_PROVEN,  ///< a CONNECT with all that it needs
    CONTENTS
};

struct sweep {
    struct attack *attack;
    struct gate gate;
    struct puppet live;
    struct hc_rng rng;
    uint32_t number; ///< of the address used last
};

static void fill(struct sweep *sweep, const struct puppet *puppet, enum content content,
                 uint8_t bytes[static TOLD_MAX]) {
    struct hc_hello hello = {.protocol_id = puppet->party.protocol_id};
    struct hc_data data = {.cid = content == CONTENT_LIVE ? sweep->live.cid : 0x7654321 + 4096,
                           .seq = sweep->live.seq + 1 + sweep->number % 7};
    memset(bytes, 0, TOLD_MAX);
    if (content == CONTENT_NOISE)
        noise(&sweep->rng, bytes, TOLD_MAX);
    if (content == CONTENT_HELLO || content == CONTENT_BUILD || content == CONTENT_VERSION) {
        hello.protocol_id += content == CONTENT_BUILD;
        memcpy(hello.client_nonce, puppet->cookie.client_nonce, HC_NONCE_SIZE);
        hc_datagram_put_hello(&hello, bytes);
        bytes[HC_MAGIC_SIZE] = content == CONTENT_VERSION ? '0' : bytes[HC_MAGIC_SIZE];
    }
    if (content == CONTENT_LIVE || content == CONTENT_UNKNOWN)
        hc_datagram_put_data(&data, bytes);
    if (content == CONTENT_COOKIE || content == CONTENT_PROVEN)
        puppet_write_connect(puppet, 1, bytes);
    if (content == CONTENT_COOKIE)
        noise(&sweep->rng, bytes + CONNECT_TOKEN_AT + 12, HC_TOKEN_SIZE - 12);
}

/// Counts what an address got for what it sent, of which it may get `most` times as much.
static void weigh(struct sweep *sweep, const struct puppet *puppet, uint64_t most) {
    double in = (double)puppet->bytes_in, out = (double)puppet->bytes_out;
    double ratio = in > 0 ? out / in : out;
    attack_try(sweep->attack, puppet->bytes_out > most * puppet->bytes_in);
    if (ratio > sweep->attack->amplification)
        sweep->attack->amplification = ratio;
}

static void ask(struct sweep *sweep, enum content content, uint8_t kind, size_t size) {
    uint8_t bytes[TOLD_MAX];
    struct puppet puppet;
    sweep->number++;
    sweep->gate.now_us += RESET_US;
    puppet_begin(&puppet, sweep->gate.host, address_of(sweep->number), sweep->number,
                 sweep->number);
    if (content == CONTENT_COOKIE || content == CONTENT_PROVEN)
        attack_require(sweep->attack, puppet_hello(&puppet, sweep->gate.now_us), "no cookie");
    fill(sweep, &puppet, content, bytes);
    bytes[0] = kind;
    puppet_say(&puppet, bytes, size, sweep->gate.now_us);
    weigh(sweep, &puppet, 1);
}

/// A gate with one session.
static void open_live(struct sweep *sweep) {
    sweep->gate = gate_open(16);
    puppet_begin(&sweep->live, sweep->gate.host, address_of(1), 1, 1);
    attack_require(sweep->attack, puppet_join(&sweep->live, 1, sweep->gate.now_us),
                   "nobody can join");
}

/// Sealed datagrams of a session that is there come from elsewhere, where nothing has been shown;
/// each time of another one, that the server has not run out of patience with.
static void ask_from_elsewhere(struct sweep *sweep) {
    enum { PLACES = 200, TIMES = 3 };
    for (uint32_t i = 0; i < PLACES; i++) {
        gate_close(&sweep->gate);
        open_live(sweep);
        struct puppet elsewhere = {.host = sweep->gate.host,
                                   .address = address_of(++sweep->number)};
        uint32_t times = i % 20 == 0 ? 30 : 1 + i % 3;
        for (uint32_t n = 0; n < times; n++) {
            uint8_t bytes[HC_DATAGRAM_MAX];
            size_t size = puppet_seal(&sweep->live, NULL, 0, 0, 0, bytes);
            enum hc_status status = puppet_say(&elsewhere, bytes, size, sweep->gate.now_us);
            attack_require(sweep->attack, status == HC_OK, "a session's own DATA was refused");
            gate_run(&sweep->gate, TICK_US, &elsewhere);
            weigh(sweep, &elsewhere, TIMES);
        }
        gate_run(&sweep->gate, SECOND_US / 5,
                 &elsewhere); // longer than from one question to another
        weigh(sweep, &elsewhere, TIMES);
        attack_require(sweep->attack, elsewhere.bytes_out > 0, "an address is not asked");
    }
}

void attack_amplification(struct attack *attack) {
    static const uint8_t kinds[] = {0, 1, 2, 3, 4, 5, 6, 0x40, 0x41, 0x7f, 0xff};
    struct sweep sweep = {.attack = attack, .rng = hc_rng_init(1, 1), .number = 1};
    attack->amplification = 0;
    open_live(&sweep);
    for (enum content content = 0; content < CONTENTS; content++)
        for (unsigned k = 0; k < sizeof kinds; k++)
            for (size_t size = 0; size <= TOLD_MAX; size++)
                ask(&sweep, content, kinds[k], size);
    double handshakes = attack->amplification;
    attack->amplification = 0;
    ask_from_elsewhere(&sweep);
    double migration = attack->amplification;
    attack->amplification = handshakes > migration ? handshakes : migration;

    struct puppet silent;
    puppet_begin(&silent, sweep.gate.host, address_of(2), 2, 2);
    attack_require(attack, puppet_join(&silent, 1, sweep.gate.now_us), "nobody can join");
    gate_run(&sweep.gate, 12 * SECOND_US, &silent);
    uint64_t until_dropped = silent.bytes_out;
    gate_run(&sweep.gate, 5 * SECOND_US, &silent);
    attack_require(attack, silent.bytes_out == until_dropped, "it goes on for a silent client");
    attack_require(attack, until_dropped <= SILENT_MAX, "%llu bytes go to a silent client",
                   (unsigned long long)until_dropped);
    attack_effect(attack, "handshakes %.2f, migration %.2f; a proven one that is silent: %.0f kB",
                  handshakes, migration, (double)until_dropped / 1000);
    gate_close(&sweep.gate);
    attack_require_none(attack, 100000);
}

// ---- A victim's address -------------------------------------------------------------------------

/// A datagram that anybody can send in the name of `victim`.
static void blame(struct attack *attack, struct gate *gate, const struct puppet *victim,
                  struct hc_rng *rng, unsigned n) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address from = victim->address;
    size_t size = n % 2 == 0 ? HC_DATAGRAM_MAX : 21 + hc_rng_below(rng, 1179);
    struct hc_data data = {.cid = n % 3 == 0 ? victim->cid : (uint32_t)hc_rng_next(rng),
                           .seq = 1 + hc_rng_below(rng, 1000)};
    struct hc_hello hello = {.protocol_id = victim->party.protocol_id + n % 2};
    if (n % 4 == 0)
        from.port = (uint16_t)(1 + hc_rng_below(rng, 65535));
    noise(rng, bytes, sizeof bytes);
    noise(rng, hello.client_nonce, HC_NONCE_SIZE);
    switch (n % 5) {
    case 0: // also with the nonce of its own
        if (n % 10 == 0)
            memcpy(hello.client_nonce, victim->cookie.client_nonce, HC_NONCE_SIZE);
        size = hc_datagram_put_hello(&hello, bytes);
        break;
    case 1: // with a cookie that is a guess
        puppet_write_connect(victim, 1, bytes);
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
    struct puppet liar = {.host = gate->host, .address = from};
    puppet_say(&liar, bytes, size, gate->now_us);
    attack_try(attack, let_in(&liar));
}

void attack_blame(struct attack *attack) {
    enum { JOINS = 100, JUNK = 100 };
    struct gate gate = gate_open(8);
    struct hc_rng rng = hc_rng_init(2, 1);
    struct puppet victim;
    unsigned joined = 0, kept = 0;
    for (unsigned i = 0; i < JOINS; i++) {
        struct hc_address address = hc_address_ipv4(192, 0, 2, 7, (uint16_t)(4000 + i % 3));
        puppet_begin(&victim, gate.host, address, 1, 1000 + i);
        for (unsigned n = 0; n < JUNK / 2; n++)
            blame(attack, &gate, &victim, &rng, n);
        joined += puppet_join(&victim, 1, gate.now_us);
        gate_run(&gate, SECOND_US / 10, NULL);
        for (unsigned n = 0; n < JUNK / 2; n++)
            blame(attack, &gate, &victim, &rng, n);
        kept += lives(&victim, gate.now_us);
        leave(&victim, gate.now_us);
        gate_run(&gate, SECOND_US, NULL); // a user may connect so often
    }
    attack_effect(attack, "joined %u of %u, thrown out %u", joined, JOINS, joined - kept);
    attack_require(attack, joined == JOINS, "the victim joined %u of %u times", joined, JOINS);
    attack_require(attack, kept == JOINS, "the victim was thrown out %u times", JOINS - kept);
    attack_require_none(attack, 10000);
    gate_close(&gate);
}

// ---- Cookies ------------------------------------------------------------------------------------

/// Says CONNECT as `puppet`, which has changed since its cookie was made for somebody else.
static void use_cookie(struct attack *attack, struct puppet puppet, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    puppet_write_connect(&puppet, 1, bytes);
    puppet_say(&puppet, bytes, sizeof bytes, now_us);
    attack_try(attack, let_in(&puppet));
    attack_require(attack, puppet.size == 0, "a foreign cookie was answered");
}

/// Everything that a cookie is bound to, one bit after another.
static void misuse_cookie(struct attack *attack, const struct puppet *owner, uint64_t now_us) {
    for (unsigned bit = 0; bit < 128; bit++) {
        uint8_t turned = (uint8_t)(1u << bit % 8);
        struct puppet other = *owner;
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
    struct gate gate = gate_open(64);
    struct puppet owner, late;
    unsigned joined = 0;
    for (uint32_t i = 1; i <= OWNERS; i++) {
        // From the beginning of a slot: good for all of it and of the next, and no longer.
        gate.now_us += HC_COOKIE_SLOT_US - gate.now_us % HC_COOKIE_SLOT_US;
        puppet_begin(&owner, gate.host, address_of(i), i, i);
        puppet_begin(&late, gate.host, address_of(1000 + i), 1000 + i, 1000 + i);
        attack_require(attack,
                       puppet_hello(&owner, gate.now_us) && puppet_hello(&late, gate.now_us),
                       "no cookie");
        misuse_cookie(attack, &owner, gate.now_us + i);
        for (unsigned n = 0; n < AGES; n++)
            use_cookie(attack, late,
                       gate.now_us + 2 * (uint64_t)HC_COOKIE_SLOT_US + n * n * 1000000);
        joined += puppet_connect(&owner, 1, gate.now_us + 2 * HC_COOKIE_SLOT_US - 1) ==
                  HC_DATAGRAM_ACCEPT;
    }
    attack_effect(attack, "owners joined %u of %u, 20 s old", joined, OWNERS);
    attack_require(attack, joined == OWNERS, "%u of %u owners joined", joined, OWNERS);
    attack_require_none(attack, 10000);
    gate_close(&gate);
}

// ---- Tokens -------------------------------------------------------------------------------------

/// A CONNECT that somebody says who has seen all of the owner's and knows its secret not.
static void steal(struct attack *attack, const struct puppet *owner, struct puppet *thief,
                  unsigned how, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE], copied[HC_DATAGRAM_CONNECT_SIZE];
    puppet_write_connect(owner, 1, copied);
    puppet_write_connect(thief, 1, bytes); // with a proof by a secret of its own
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
    puppet_say(thief, bytes, sizeof bytes, now_us);
    attack_try(attack, let_in(thief));
    if (hc_datagram_kind(thief->answer, thief->size) == HC_DATAGRAM_DENY)
        attack_require(
            attack, hc_token_check_deny_mac(owner->party.credential.secret, thief->answer) != HC_OK,
            "a thief was handed a DENY that the owner believes");
}

void attack_stolen_token(struct attack *attack) {
    enum { OWNERS = 250, THEFTS = 20 };
    struct gate gate = gate_open(8);
    struct puppet owner, thief;
    unsigned joined = 0, kept = 0;
    for (uint32_t i = 1; i <= OWNERS; i++) {
        puppet_begin(&owner, gate.host, address_of(i), i, i);
        puppet_begin(&thief, gate.host, address_of(100000 + i), i, 100000 + i);
        attack_require(attack,
                       puppet_hello(&owner, gate.now_us) && puppet_hello(&thief, gate.now_us),
                       "no cookie");
        hc_party_compute_key(&owner.party);
        hc_party_compute_key(&thief.party);
        // What is on the wire is copied; the secret is not there.
        memcpy(thief.party.credential.token, owner.party.credential.token, HC_TOKEN_SIZE);
        for (unsigned n = 0; n < THEFTS; n++)
            steal(attack, &owner, &thief, n, gate.now_us);
        joined += puppet_connect(&owner, 1, gate.now_us) == HC_DATAGRAM_ACCEPT;
        for (unsigned n = 0; n < THEFTS; n++)
            steal(attack, &owner, &thief, n, gate.now_us + n * 100000);
        kept += lives(&owner, gate.now_us);
        leave(&owner, gate.now_us);
        for (unsigned n = 0; n < THEFTS; n++)
            steal(attack, &owner, &thief, n, gate.now_us + n * 100000);
        gate_run(&gate, SECOND_US / 10, NULL);
    }
    attack_effect(attack, "owners joined %u of %u, thrown out %u", joined, OWNERS, joined - kept);
    attack_require(attack, joined == OWNERS && kept == OWNERS, "%u of %u owners joined, %u stayed",
                   joined, OWNERS, kept);
    attack_require_none(attack, 10000);
    gate_close(&gate);
}

/// What may be wrong with a token that its owner brings.
enum misuse { MISUSE_EXPIRED, MISUSE_AUDIENCE, MISUSE_KEY, MISUSE_KEY_ID, MISUSE_BUILD, MISUSES };

static void misuse(struct attack *attack, struct gate *gate, enum misuse what, uint32_t number) {
    struct hc_token_ring ring = hc_party_ring();
    struct hc_token_key key = ring.keys[0];
    struct hc_token token = puppet_token(number);
    struct puppet puppet;
    if (what == MISUSE_EXPIRED)
        token.expire_s = HC_PARTY_UNIX_S - number % 100;
    if (what == MISUSE_AUDIENCE)
        token.audience = 1 + number;
    if (what == MISUSE_KEY)
        key.key[number % HC_TOKEN_KEY_SIZE] ^= (uint8_t)(1u << number % 8);
    if (what == MISUSE_KEY_ID)
        key.id = (uint8_t)(key.id + 1 + number % 255);
    puppet_begin_as(&puppet, gate->host, address_of(number), &key, &token, number);
    if (what == MISUSE_BUILD)
        hc_token_seal(&key, puppet.party.protocol_id ^ UINT64_C(1) << number % 64, &token,
                      (const uint8_t[HC_TOKEN_NONCE_SIZE]){1}, puppet.party.credential.token);
    attack_require(attack, puppet_hello(&puppet, gate->now_us), "no cookie");
    attack_try(attack, puppet_connect(&puppet, 1, gate->now_us) != HC_DATAGRAM_DENY);
}

/// The same token again: from elsewhere while its owner plays, and after it left.
static void use_twice(struct attack *attack, struct gate *gate, uint32_t number) {
    struct puppet first, again;
    puppet_begin(&first, gate->host, address_of(number), number, number);
    attack_require(attack, puppet_join(&first, 1, gate->now_us), "the first use was refused");
    gate_run(gate, TICK_US, NULL);
    for (uint32_t n = 1; n <= 4; n++) {
        puppet_begin(&again, gate->host, address_of(number + n * 10000), number,
                     number + n * 10000);
        again.party.credential = first.party.credential;
        attack_require(attack, puppet_hello(&again, gate->now_us), "no cookie");
        if (n == 3) {
            attack_require(attack, lives(&first, gate->now_us), "the first use was thrown out");
            leave(&first, gate->now_us);
            gate_run(gate, TICK_US, NULL);
        }
        attack_try(attack, puppet_connect(&again, 1, gate->now_us) == HC_DATAGRAM_ACCEPT);
    }
    attack_require(attack, hc_sv_host_clients(gate->host) == 0, "somebody is left");
}

void attack_misused_token(struct attack *attack) {
    enum { EACH = 1000, TWICE = 250 };
    struct gate gate = gate_open(64);
    for (enum misuse what = 0; what < MISUSES; what++)
        for (uint32_t n = 0; n < EACH; n++)
            misuse(attack, &gate, what, 1 + what * EACH + n);
    for (uint32_t n = 0; n < TWICE; n++)
        use_twice(attack, &gate, 1 + MISUSES * EACH + n);
    attack_effect(attack, "first uses joined %u of %u", TWICE, TWICE);
    attack_require_none(attack, 5000);
    gate_close(&gate);
}

void attack_connect_flips(struct attack *attack) {
    struct gate gate = gate_open(8);
    struct puppet owner;
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    puppet_begin(&owner, gate.host, address_of(1), 1, 1);
    attack_require(attack, puppet_hello(&owner, gate.now_us), "no cookie");
    puppet_write_connect(&owner, 1, bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        puppet_say(&owner, bytes, sizeof bytes, gate.now_us);
        attack_try(attack, let_in(&owner));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    bool joined = puppet_connect(&owner, 1, gate.now_us) == HC_DATAGRAM_ACCEPT;
    attack_effect(attack, "the one that nobody changed was let in");
    attack_require(attack, joined, "the owner was not let in");
    attack_require_none(attack, 8 * sizeof bytes);
    gate_close(&gate);
}

// ---- Work ---------------------------------------------------------------------------------------

/// Sends a datagram; how many operations on the curve the server does for it.
static uint32_t curve_for(struct puppet *puppet, const uint8_t *bytes, size_t size,
                          uint64_t now_us) {
    uint32_t before = hc_spy_seen().curve;
    puppet_say(puppet, bytes, size, now_us);
    return hc_spy_seen().curve - before;
}

/// CONNECTs with something wrong, and one that is refused for its token; each costs nothing.
static void knock_in_vain(struct attack *attack, struct gate *gate, struct hc_rng *rng,
                          uint32_t number) {
    struct hc_token_ring ring = hc_party_ring();
    struct hc_token expired = puppet_token(2 + number);
    struct puppet puppet;
    uint8_t bytes[HC_DATAGRAM_MAX];
    expired.expire_s = HC_PARTY_UNIX_S;
    puppet_begin(&puppet, gate->host, address_of(number), 2 + number, 2 + number);
    attack_require(attack, puppet_hello(&puppet, gate->now_us), "no COOKIE");
    static const struct {
        size_t from, size;
    } spoilt[] = {{36, HC_COOKIE_SIZE},
                  {CONNECT_TOKEN_AT, HC_TOKEN_SIZE},
                  {301, 32},
                  {CONNECT_PROOF_AT, HC_PROOF_SIZE}};
    for (unsigned i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
        puppet_write_connect(&puppet, 1, bytes);
        noise(rng, bytes + spoilt[i].from, spoilt[i].size);
        attack_try(attack, curve_for(&puppet, bytes, sizeof bytes, gate->now_us) > 0);
    }
    struct puppet late = puppet;
    puppet_begin_as(&late, gate->host, puppet.address, &ring.keys[0], &expired, 2 + number);
    attack_require(attack, puppet_hello(&late, gate->now_us), "no COOKIE");
    puppet_write_connect(&late, 1, bytes);
    attack_try(attack, curve_for(&late, bytes, sizeof bytes, gate->now_us) > 0);
}

void attack_curve(struct attack *attack) {
    enum { HELLOS = 20000, CONNECTS = 1000, EXCHANGE = 2 };
    struct gate gate = gate_open(4);
    struct hc_rng rng = hc_rng_init(36, 1);
    struct puppet honest;
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (uint32_t i = 0; i < HELLOS; i++) {
        struct puppet stranger = {.host = gate.host, .address = address_of(i)};
        struct hc_hello hello = {.protocol_id = hc_datagram_protocol_id(&hc_arena)};
        noise(&rng, hello.client_nonce, HC_NONCE_SIZE);
        size_t size = hc_datagram_put_hello(&hello, bytes);
        attack_try(attack, curve_for(&stranger, bytes, size, gate.now_us) > 0);
    }
    for (uint32_t i = 0; i < CONNECTS; i++)
        knock_in_vain(attack, &gate, &rng, i);
    puppet_begin(&honest, gate.host, address_of(CONNECTS), 1, 1);
    attack_require(attack, puppet_hello(&honest, gate.now_us), "no COOKIE");
    puppet_write_connect(&honest, 1, bytes);
    uint32_t first = curve_for(&honest, bytes, sizeof bytes, gate.now_us);
    attack_require(attack, first == EXCHANGE && let_in(&honest), "%u operations for a join", first);
    for (unsigned i = 0; i < CONNECTS; i++) // the stored ACCEPT is sent again
        attack_try(attack, curve_for(&honest, bytes, sizeof bytes, gate.now_us) > 0);
    attack_effect(attack, "%u operations for the one who is admitted, none for all others", first);
    attack_require_none(attack, HELLOS + 6 * CONNECTS);
    gate_close(&gate);
}
