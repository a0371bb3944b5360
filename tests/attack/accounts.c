/// What one account can use up: places in the list of used tokens, and the time of all others.
#include "tests/attack/attack.h"
#include "tests/attack/puppet.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_US = 1000000 };

/// A client that comes back with its newest ticket.
struct account {
    struct puppet puppet;
    uint64_t serial;
    bool has_ticket;
    struct hc_ticket ticket;
};

/// A host and the accounts that connect to it; account n is at the address of its number.
struct bank {
    struct hc_sv_host *host;
    uint64_t now_us, serial;
    struct account *accounts;
    uint32_t count;
};

static struct hc_address address_of(uint32_t number) {
    return hc_address_ipv4(127, (uint8_t)(1 + (number >> 16)), (uint8_t)(number >> 8),
                           (uint8_t)number, 4000);
}

static uint32_t number_of(const struct hc_address *address) {
    return (uint32_t)(address->ip[13] - 1) << 16 | (uint32_t)address->ip[14] << 8 | address->ip[15];
}

static struct bank bank_open(struct hc_sv_host_config config, uint32_t accounts) {
    struct bank bank = {.now_us = 5 * SECOND_US, .count = accounts};
    config.game = &hc_arena;
    config.keys = hc_party_ring();
    config.unix_us = HC_PARTY_UNIX_US;
    bank.host = hc_sv_host_create(&config, bank.now_us);
    bank.accounts = calloc(accounts + 1, sizeof *bank.accounts);
    HC_ASSERT(bank.host != NULL && bank.accounts != NULL);
    for (uint32_t i = 0; i < accounts; i++)
        puppet_begin(&bank.accounts[i].puppet, bank.host, address_of(i), 1 + i, ++bank.serial);
    return bank;
}

static void bank_close(struct bank *bank) {
    hc_sv_host_destroy(bank->host);
    free(bank->accounts);
}

/// Keeps the ticket that stands in a DATA for the account.
static void take_ticket(struct account *account, const uint8_t *bytes, size_t size) {
    static struct hc_body body;
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_data data;
    enum hc_message_type type;
    if (hc_party_get_data(&account->puppet.party, false, bytes, size, opened, &data) != HC_OK ||
        hc_body_begin(&body, data.body, data.body_size) != HC_OK)
        return;
    while ((type = hc_body_next(&body)) != HC_MESSAGE_END)
        if (type == HC_MESSAGE_TICKET)
            account->has_ticket = hc_message_get_ticket(&body, &account->ticket) == HC_OK;
}

/// Goes on to `now_us`, and gives all accounts what the host sends them.
static void bank_run(struct bank *bank, uint64_t us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_sv_event event;
    size_t size;
    bank->now_us += us;
    hc_sv_host_advance(bank->host, bank->now_us);
    while ((size = hc_sv_host_send(bank->host, &to, bytes, bank->now_us)) > 0)
        if (number_of(&to) < bank->count && !bank->accounts[number_of(&to)].has_ticket)
            take_ticket(&bank->accounts[number_of(&to)], bytes, size);
    while (hc_sv_host_poll_event(bank->host, &event)) {
    }
}

/// Connects with the newest ticket, or with the token; what the server answers.
static enum hc_datagram_kind come_back(struct bank *bank, struct account *account) {
    uint32_t continues = account->puppet.cid;
    struct puppet *puppet = &account->puppet;
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    struct hc_connect connect;
    if (account->has_ticket)
        puppet->party.credential = account->ticket.credential;
    account->has_ticket = false;
    memcpy(puppet->cookie.client_nonce, &(uint64_t){++bank->serial}, sizeof bank->serial);
    if (!puppet_hello(puppet, bank->now_us))
        return HC_DATAGRAM_NONE;
    hc_party_compute_key(&puppet->party);
    puppet_write_connect(puppet, 1, bytes);
    HC_ASSERT(hc_datagram_get_connect(bytes, sizeof bytes, &connect) == HC_OK);
    connect.continues = continues;
    hc_party_put_connect(&puppet->party, &connect, bytes);
    enum hc_datagram_kind kind = puppet_take_connect(puppet, bytes, bank->now_us);
    if (kind == HC_DATAGRAM_ACCEPT)
        puppet_data(puppet, NULL, 0, bank->now_us);
    return kind;
}

/// Connects with its token, and leaves; whether it was admitted.
static bool visit_as(struct bank *bank, struct puppet *puppet) {
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    memcpy(puppet->cookie.client_nonce, &(uint64_t){++bank->serial}, sizeof bank->serial);
    if (!puppet_join(puppet, 1, bank->now_us))
        return false;
    hc_message_put_close(&body, HC_CLOSE_LEFT);
    return puppet_data(puppet, bytes, body.at, bank->now_us) == HC_OK;
}

/// Connects a user that nobody has seen, and lets it leave; whether it was admitted.
static bool visit(struct bank *bank, uint32_t number) {
    struct puppet puppet;
    puppet_begin(&puppet, bank->host, address_of(1000000 + number), 1000000 + number,
                 ++bank->serial);
    return visit_as(bank, &puppet);
}

void attack_ticket_flood(struct attack *attack) {
    enum { EVIL = 8, CLIENTS = 64, SECONDS = 60, HZ = 60 };
    struct hc_sv_host_config config = hc_sv_host_config_default();
    uint64_t resumes = 0;
    uint32_t visitors = 0;
    config.clients = CLIENTS;
    struct bank bank = bank_open(config, EVIL);
    for (unsigned tick = 0; tick < SECONDS * HZ; tick++) {
        for (unsigned i = 0; i < EVIL; i++)
            if (bank.accounts[i].has_ticket || bank.accounts[i].puppet.cid == 0)
                resumes += come_back(&bank, &bank.accounts[i]) == HC_DATAGRAM_ACCEPT;
        if (tick % (HZ / 4) == 0)
            attack_try(attack, !visit(&bank, visitors++));
        bank_run(&bank, SECOND_US / HZ + 1);
    }
    attack_effect(attack, "%d accounts came back %llu times, %u of %u others were admitted", EVIL,
                  (unsigned long long)resumes, visitors - (unsigned)attack->accepted, visitors);
    attack_require(attack, resumes <= EVIL * (SECONDS + 6), "8 accounts came back %llu times",
                   (unsigned long long)resumes);
    attack_require_none(attack, SECONDS * 4);
    bank_close(&bank);
}

void attack_outages(struct attack *attack) {
    enum { CLIENTS = 1024, OUTAGES = 10, GAP_S = 3 };
    struct hc_sv_host_config config = hc_sv_host_config_default();
    config.clients = CLIENTS;
    config.tick_rate = 1;
    config.history = 0;
    config.timeout_us = 2 * SECOND_US;
    struct bank bank = bank_open(config, CLIENTS);
    for (unsigned n = 0; n <= OUTAGES; n++) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            attack_require(attack, n == 0 || bank.accounts[i].has_ticket, "there is no ticket");
            attack_try(attack, come_back(&bank, &bank.accounts[i]) != HC_DATAGRAM_ACCEPT);
        }
        for (unsigned s = 0; s < GAP_S; s++)
            bank_run(&bank, SECOND_US);
    }
    attack_effect(attack, "%d clients are back after each of %d outages in %d s", CLIENTS, OUTAGES,
                  OUTAGES * GAP_S);
    attack_require_none(attack, CLIENTS * OUTAGES);
    bank_close(&bank);
}

/// Connects with a token of these rights; whether it is admitted. It leaves again.
static bool connects_as(struct bank *bank, uint8_t rights, bool watch, uint8_t players) {
    static uint32_t number = 0;
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_token_ring ring = hc_party_ring();
    struct hc_token token = puppet_token(2000000 + ++number);
    struct puppet puppet;
    token.players = rights;
    token.watch = watch;
    puppet_begin_as(&puppet, bank->host, address_of(2000000 + number), &ring.keys[0], &token,
                    ++bank->serial);
    if (!puppet_hello(&puppet, bank->now_us) ||
        puppet_connect(&puppet, players, bank->now_us) != HC_DATAGRAM_ACCEPT)
        return false;
    hc_message_put_close(&body, HC_CLOSE_LEFT);
    puppet_data(&puppet, bytes, body.at, bank->now_us);
    bank_run(bank, SECOND_US / 10);
    return true;
}

void attack_rights(struct attack *attack) {
    struct hc_sv_host_config config = hc_sv_host_config_default();
    config.clients = 8;
    struct bank bank = bank_open(config, 0);
    unsigned allowed = 0, admitted = 0;
    for (unsigned n = 0; n < 20 * 5 * 2 * 5; n++) {
        uint8_t rights = (uint8_t)(n / 10 % 5), players = (uint8_t)(n % 5);
        bool watch = n / 5 % 2 != 0;
        bool good = players == 0 ? watch : players <= rights;
        bool is_in = connects_as(&bank, rights, watch, players);
        allowed += good;
        admitted += good && is_in;
        if (!good)
            attack_try(attack, is_in);
    }
    bank_close(&bank);
    config.players_per_client = 2;
    config.spectators = 0;
    bank = bank_open(config, 0);
    for (unsigned n = 0; n < 50; n++) {
        attack_try(attack, connects_as(&bank, HC_OWN_PLAYERS_MAX, true, 0));
        attack_try(attack, connects_as(&bank, HC_OWN_PLAYERS_MAX, true, 3));
    }
    attack_require(attack, connects_as(&bank, HC_OWN_PLAYERS_MAX, true, 2), "two players of two");
    attack_effect(attack, "%u of %u with the right were admitted", admitted, allowed);
    attack_require(attack, admitted == allowed, "%u of %u with the right were admitted", admitted,
                   allowed);
    attack_require_none(attack, 500);
    bank_close(&bank);
}

/// Who is admitted with its newest ticket, one bit an account.
static unsigned try_all(struct bank *bank) {
    unsigned admitted = 0;
    for (unsigned i = 0; i < bank->count; i++)
        admitted |= (unsigned)(come_back(bank, &bank->accounts[i]) == HC_DATAGRAM_ACCEPT) << i;
    for (unsigned tick = 0; tick < 6; tick++)
        bank_run(bank, SECOND_US / 6);
    return admitted;
}

/// Plays on with tickets alone until the session ends; after how many seconds that is.
static uint64_t outlast(struct bank *bank, uint64_t most_s) {
    uint64_t from_us = bank->now_us;
    while (bank->now_us - from_us < most_s * SECOND_US) {
        bank_run(bank, 8 * SECOND_US);
        if ((try_all(bank) & 1) == 0)
            break;
    }
    return (bank->now_us - from_us) / SECOND_US;
}

void attack_put_out(struct attack *attack) {
    enum { LIFE_S = 3600, EVIL = 2 };
    static struct hc_sv_refused refused;
    struct hc_sv_host_config config = hc_sv_host_config_default();
    config.tick_rate = 6;
    config.session_life_s = LIFE_S;
    struct bank bank = bank_open(config, 4);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(bank.host);
    attack_require(attack, try_all(&bank) == 15, "not all are admitted");
    refused = (struct hc_sv_refused){.client_ids = {1, 1 + EVIL}, .count = 2};
    hc_sv_host_set_refused(bank.host, &refused, bank.now_us);
    bank_run(&bank, SECOND_US / 6);
    attack_try(attack, hc_sv_host_clients(bank.host) != 2);
    attack_try(attack, try_all(&bank) != 10);
    attack_require(attack, stats->denials[HC_DENY_REFUSED].count == 2, "for another reason");

    refused = (struct hc_sv_refused){.not_before_s = HC_PARTY_UNIX_S + bank.now_us / SECOND_US};
    hc_sv_host_set_refused(bank.host, &refused, bank.now_us);
    bank_run(&bank, SECOND_US / 6);
    attack_try(attack, hc_sv_host_clients(bank.host) != 0);
    attack_try(attack, try_all(&bank) != 0);
    refused.not_before_s = 0;
    hc_sv_host_set_refused(bank.host, &refused, bank.now_us);
    bank_close(&bank);

    bank = bank_open(config, 1);
    attack_require(attack, try_all(&bank) == 1, "it is not admitted");
    uint64_t lasted_s = outlast(&bank, 3 * LIFE_S);
    attack_try(attack, lasted_s > LIFE_S + 10);
    attack_require(attack, lasted_s > LIFE_S - 20, "it ended after %llu s",
                   (unsigned long long)lasted_s);
    attack_require(attack, hc_sv_host_clients(bank.host) == 0, "it is still there");
    attack_effect(attack, "put out at once, 0 back; a session of an hour ended after %llu s",
                  (unsigned long long)lasted_s);
    attack_require_none(attack, 5);
    bank_close(&bank);
}

void attack_clock_steps(struct attack *attack) {
    enum { VISITS = 20000, KEPT = 512, HOUR_S = 3600 };
    static struct puppet kept[KEPT];
    struct hc_sv_host_config config = hc_sv_host_config_default();
    struct hc_rng rng = hc_rng_init(71, 1);
    struct bank bank = bank_open(config, 1);
    unsigned admitted = 0;
    struct hc_token_ring ring = hc_party_ring();
    uint64_t unix_s = HC_PARTY_UNIX_S, set_us = bank.now_us;
    for (unsigned n = 0; n < VISITS; n++) {
        struct puppet *visitor = &kept[admitted % KEPT];
        if (hc_rng_below(&rng, 100) == 0) { // by less than an hour, to and fro
            unix_s = HC_PARTY_UNIX_S + hc_rng_below(&rng, HOUR_S);
            set_us = bank.now_us;
            hc_sv_host_set_time(bank.host, unix_s * SECOND_US, set_us);
        }
        struct hc_token token = puppet_token(1000000 + n);
        token.expire_s = unix_s + (bank.now_us - set_us) / SECOND_US + 60;
        puppet_begin_as(visitor, bank.host, address_of(n), &ring.keys[0], &token, 1000000 + n);
        bool is_in = visit_as(&bank, visitor);
        admitted += is_in;
        struct puppet again =
            kept[hc_rng_below(&rng, admitted < KEPT ? admitted + !admitted : KEPT)];
        if (&kept[admitted % KEPT] != visitor && again.cid != 0)
            attack_try(attack, visit_as(&bank, &again));
        come_back(&bank, &bank.accounts[0]);
        bank_run(&bank, SECOND_US / 60);
    }
    attack_effect(attack, "%u of %d others were admitted", admitted, VISITS);
    attack_require(attack, admitted > 4096, "only %u were admitted", admitted);
    attack_require_none(attack, 4096);
    bank_close(&bank);
}
