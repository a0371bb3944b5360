/// Accounts try to fill the list of spent tokens, to keep others out, and to outlast their session.
#include "tests/attack/attack.h"
#include "tests/sim/raw_client.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_US = 1000000 };

/// A client that reconnects with its newest ticket.
struct account {
    struct raw_client raw;
    uint64_t serial;
    bool has_ticket;
    struct hc_ticket ticket;
};

/// A host and the accounts that connect to it; account n has the address of its number.
struct accounts {
    struct raw_host target;
    uint64_t serial;
    struct account *all;
    uint32_t count;
};

static struct hc_address address_of(uint32_t number) {
    return hc_address_ipv4(127, (uint8_t)(1 + (number >> 16)), (uint8_t)(number >> 8),
                           (uint8_t)number, 4000);
}

static uint32_t number_of(const struct hc_address *address) {
    return (uint32_t)(address->ip[13] - 1) << 16 | (uint32_t)address->ip[14] << 8 | address->ip[15];
}

static struct accounts accounts_create(struct hc_server_config config, uint32_t count) {
    struct accounts accounts = {.target = raw_host_create(&config), .count = count};
    accounts.all = calloc(count + 1, sizeof *accounts.all);
    HC_ASSERT(accounts.all != NULL);
    for (uint32_t i = 0; i < count; i++)
        raw_client_begin(&accounts.all[i].raw, accounts.target.host, address_of(i), 1 + i,
                         ++accounts.serial);
    return accounts;
}

static void accounts_destroy(struct accounts *accounts) {
    raw_host_destroy(&accounts->target);
    free(accounts->all);
}

/// Stores the ticket of a DATA for its account.
static void store_ticket(void *context, const struct hc_address *to, const uint8_t *bytes,
                         size_t size) {
    static struct hc_body body;
    struct accounts *accounts = context;
    uint8_t opened[HC_DATAGRAM_MAX];
    if (number_of(to) >= accounts->count || accounts->all[number_of(to)].has_ticket)
        return;
    struct account *account = &accounts->all[number_of(to)];
    if (raw_client_find(&account->raw, bytes, size, HC_MESSAGE_TICKET, opened, &body))
        account->has_ticket = hc_message_get_ticket(&body, &account->ticket) == HC_OK;
}

/// Runs the host for `us`, and gives its datagrams to the accounts.
static void accounts_run(struct accounts *accounts, uint64_t us) {
    accounts->target.sent = store_ticket;
    accounts->target.context = accounts;
    raw_host_run(&accounts->target, us, NULL);
}

/// Connects with the newest ticket, or with the token; returns the kind of the server's answer.
static enum hc_datagram_kind reconnect(struct accounts *accounts, struct account *account) {
    uint32_t continues = account->raw.cid;
    struct raw_client *raw = &account->raw;
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    struct hc_connect connect;
    if (account->has_ticket)
        raw->endpoint.credential = account->ticket.credential;
    account->has_ticket = false;
    memcpy(raw->cookie.client_nonce, &(uint64_t){++accounts->serial}, sizeof accounts->serial);
    if (!raw_client_hello(raw, accounts->target.now_us))
        return HC_DATAGRAM_NONE;
    hc_endpoint_compute_key(&raw->endpoint);
    raw_client_write_connect(raw, 1, bytes);
    HC_ASSERT(hc_datagram_get_connect(bytes, sizeof bytes, &connect) == HC_OK);
    connect.continues = continues;
    hc_endpoint_put_connect(&raw->endpoint, &connect, bytes);
    enum hc_datagram_kind kind = raw_client_send_connect(raw, bytes, accounts->target.now_us);
    if (kind == HC_DATAGRAM_ACCEPT)
        raw_client_send_data(raw, NULL, 0, accounts->target.now_us);
    return kind;
}

/// Connects with its token, and leaves; returns whether it was admitted.
static bool connect_and_leave_as(struct accounts *accounts, struct raw_client *raw) {
    memcpy(raw->cookie.client_nonce, &(uint64_t){++accounts->serial}, sizeof accounts->serial);
    return raw_client_join(raw, 1, accounts->target.now_us) &&
           raw_client_leave(raw, accounts->target.now_us);
}

/// Connects a new user, which leaves; returns whether it was admitted.
static bool connect_and_leave(struct accounts *accounts, uint32_t number) {
    struct raw_client raw;
    raw_client_begin(&raw, accounts->target.host, address_of(1000000 + number), 1000000 + number,
                     ++accounts->serial);
    return connect_and_leave_as(accounts, &raw);
}

void attack_ticket_flood(struct attack *attack) {
    enum { HOSTILE = 8, CLIENTS = 64, SECONDS = 60, HZ = 60 };
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    uint64_t resumes = 0;
    uint32_t visitors = 0;
    config.clients = CLIENTS;
    struct accounts accounts = accounts_create(config, HOSTILE);
    for (unsigned tick = 0; tick < SECONDS * HZ; tick++) {
        for (unsigned i = 0; i < HOSTILE; i++)
            if (accounts.all[i].has_ticket || accounts.all[i].raw.cid == 0)
                resumes += reconnect(&accounts, &accounts.all[i]) == HC_DATAGRAM_ACCEPT;
        if (tick % (HZ / 4) == 0)
            attack_try(attack, !connect_and_leave(&accounts, visitors++));
        accounts_run(&accounts, SECOND_US / HZ + 1);
    }
    attack_effect(attack, "%d accounts reconnected %llu times, %u of %u others were admitted",
                  HOSTILE, (unsigned long long)resumes, visitors - (unsigned)attack->accepted,
                  visitors);
    attack_require(attack, resumes <= HOSTILE * (SECONDS + 6), "8 accounts reconnected %llu times",
                   (unsigned long long)resumes);
    attack_require_none(attack, SECONDS * 4);
    accounts_destroy(&accounts);
}

void attack_outages(struct attack *attack) {
    enum { CLIENTS = 1024, OUTAGES = 10, GAP_S = 3 };
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    config.clients = CLIENTS;
    config.tick_rate = 1;
    config.history = 0;
    config.timeout_us = 2 * SECOND_US;
    struct accounts accounts = accounts_create(config, CLIENTS);
    for (unsigned n = 0; n <= OUTAGES; n++) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            attack_require(attack, n == 0 || accounts.all[i].has_ticket, "there is no ticket");
            attack_try(attack, reconnect(&accounts, &accounts.all[i]) != HC_DATAGRAM_ACCEPT);
        }
        for (unsigned s = 0; s < GAP_S; s++)
            accounts_run(&accounts, SECOND_US);
    }
    attack_effect(attack, "%d clients play again after each of %d outages in %d s", CLIENTS,
                  OUTAGES, OUTAGES * GAP_S);
    attack_require_none(attack, CLIENTS * OUTAGES);
    accounts_destroy(&accounts);
}

/// Connects with a token of these rights, and leaves; returns whether it was admitted.
static bool connects_as(struct accounts *accounts, uint8_t rights, bool watch, uint8_t players) {
    static uint32_t number = 0;
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = raw_client_token(2000000 + ++number);
    struct raw_client raw;
    token.players = rights;
    token.watch = watch;
    raw_client_begin_as(&raw, accounts->target.host, address_of(2000000 + number), &ring.keys[0],
                        &token, ++accounts->serial);
    if (!raw_client_hello(&raw, accounts->target.now_us) ||
        raw_client_connect(&raw, players, accounts->target.now_us) != HC_DATAGRAM_ACCEPT)
        return false;
    raw_client_leave(&raw, accounts->target.now_us);
    accounts_run(accounts, SECOND_US / 10);
    return true;
}

void attack_rights(struct attack *attack) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    config.clients = 8;
    struct accounts accounts = accounts_create(config, 0);
    unsigned allowed = 0, admitted = 0;
    for (unsigned n = 0; n < 20 * 5 * 2 * 5; n++) {
        uint8_t rights = (uint8_t)(n / 10 % 5), players = (uint8_t)(n % 5);
        bool watch = n / 5 % 2 != 0;
        bool good = players == 0 ? watch : players <= rights;
        bool is_in = connects_as(&accounts, rights, watch, players);
        allowed += good;
        admitted += good && is_in;
        if (!good)
            attack_try(attack, is_in);
    }
    accounts_destroy(&accounts);
    config.players_per_client = 2;
    config.spectators = 0;
    accounts = accounts_create(config, 0);
    for (unsigned n = 0; n < 50; n++) {
        attack_try(attack, connects_as(&accounts, HC_OWN_PLAYERS_MAX, true, 0));
        attack_try(attack, connects_as(&accounts, HC_OWN_PLAYERS_MAX, true, 3));
    }
    attack_require(attack, connects_as(&accounts, HC_OWN_PLAYERS_MAX, true, 2),
                   "two players of two");
    attack_effect(attack, "%u of %u with the right were admitted", admitted, allowed);
    attack_require(attack, admitted == allowed, "%u of %u with the right were admitted", admitted,
                   allowed);
    attack_require_none(attack, 500);
    accounts_destroy(&accounts);
}

/// Reconnects all accounts with their newest tickets; returns one bit for each that was admitted.
static unsigned reconnect_all(struct accounts *accounts) {
    unsigned admitted = 0;
    for (unsigned i = 0; i < accounts->count; i++)
        admitted |= (unsigned)(reconnect(accounts, &accounts->all[i]) == HC_DATAGRAM_ACCEPT) << i;
    for (unsigned tick = 0; tick < 6; tick++)
        accounts_run(accounts, SECOND_US / 6);
    return admitted;
}

/// Reconnects with tickets alone until the session ends; returns the seconds until then.
static uint64_t seconds_until_end(struct accounts *accounts, uint64_t most_s) {
    uint64_t from_us = accounts->target.now_us;
    while (accounts->target.now_us - from_us < most_s * SECOND_US) {
        accounts_run(accounts, 8 * SECOND_US);
        if ((reconnect_all(accounts) & 1) == 0)
            break;
    }
    return (accounts->target.now_us - from_us) / SECOND_US;
}

void attack_ended_sessions(struct attack *attack) {
    enum { LIFE_S = 3600, HOSTILE = 2 };
    static const uint64_t refused[] = {1, 1 + HOSTILE};
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    config.tick_rate = 6;
    config.session_life_s = LIFE_S;
    struct accounts accounts = accounts_create(config, 4);
    const struct hc_server_stats *stats = hc_server_stats(accounts.target.host);
    attack_require(attack, reconnect_all(&accounts) == 15, "not all are admitted");
    hc_server_set_refused(accounts.target.host, refused, 2, 0, accounts.target.now_us);
    accounts_run(&accounts, SECOND_US / 6);
    attack_try(attack, hc_server_clients(accounts.target.host) != 2);
    attack_try(attack, reconnect_all(&accounts) != 10);
    attack_require(attack, stats->denials[HC_DENY_REFUSED].count == 2, "for another reason");

    hc_server_set_refused(accounts.target.host, NULL, 0,
                          HC_TEST_UNIX_S + accounts.target.now_us / SECOND_US,
                          accounts.target.now_us);
    accounts_run(&accounts, SECOND_US / 6);
    attack_try(attack, hc_server_clients(accounts.target.host) != 0);
    attack_try(attack, reconnect_all(&accounts) != 0);
    hc_server_set_refused(accounts.target.host, NULL, 0, 0, accounts.target.now_us);
    accounts_destroy(&accounts);

    accounts = accounts_create(config, 1);
    attack_require(attack, reconnect_all(&accounts) == 1, "the account is not admitted");
    uint64_t lasted_s = seconds_until_end(&accounts, 3 * LIFE_S);
    attack_try(attack, lasted_s > LIFE_S + 10);
    attack_require(attack, lasted_s > LIFE_S - 20, "it ended after %llu s",
                   (unsigned long long)lasted_s);
    attack_require(attack, hc_server_clients(accounts.target.host) == 0, "it is still there");
    attack_effect(attack,
                  "sessions end at once, 0 resumed; a session of an hour ended after %llu s",
                  (unsigned long long)lasted_s);
    attack_require_none(attack, 5);
    accounts_destroy(&accounts);
}

// ---- Ends that void tokens ----------------------------------------------------------------------

enum { LIFE_S = 30 }; // of a session

/// How a session ends. The tickets of a client that does not ack, is lost or leaves remain.
enum ending { KICKED, BY_GAME, REFUSED, DESYNC, TOO_OLD, OVERRUN, LOST, LEFT, ENDINGS };

/// Ends the session of an account, and waits until it has ended.
static void end_session(struct accounts *accounts, struct account *account, enum ending ending) {
    uint8_t bytes[16], message[HC_MESSAGE_SIZE_MAX] = {0};
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_server *host = accounts->target.host;
    uint64_t user = 1 + (uint64_t)(account - accounts->all), wait_s = 1;
    if (ending == KICKED || ending == BY_GAME) {
        hc_server_kick(host, account->raw.cid, ending == KICKED ? HC_CLOSE_KICKED : HC_CLOSE_GAME,
                       accounts->target.now_us);
    } else if (ending == REFUSED) {
        hc_server_set_refused(host, &user, 1, 0, accounts->target.now_us);
        hc_server_set_refused(host, NULL, 0, 0, accounts->target.now_us);
    } else if (ending == DESYNC || ending == LEFT) {
        const struct hc_close close = {
            .reason = ending == LEFT ? HC_CLOSE_LEFT : HC_CLOSE_DESYNC,
            .desync = {.entity = HC_CLOSE_NO_ENTITY, .field = HC_CLOSE_NO_FIELD}};
        hc_message_put_close(&body, &close);
        raw_client_send_data(&account->raw, bytes, body.at, accounts->target.now_us);
    } else if (ending == OVERRUN) {
        while (hc_server_send_message(host, account->raw.cid, message, sizeof message,
                                      accounts->target.now_us) == HC_OK) {
        }
    } else {
        wait_s = ending == TOO_OLD ? LIFE_S : 20;
    }
    for (uint64_t n = 0; n < 6 * wait_s; n++) {
        accounts_run(accounts, SECOND_US / 6);
        if (ending == TOO_OLD && n % 6 == 0) // a client that plays on
            raw_client_send_data(&account->raw, NULL, 0, accounts->target.now_us);
    }
}

/// Ends the session of an account, and counts how many of its ticket and its token are taken after
/// it. `restarted`: the session goes on at another server first.
static unsigned taken_after(struct attack *attack, enum ending ending, bool restarted) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    config.tick_rate = 6;
    config.session_life_s = ending == LOST ? 0 : LIFE_S;
    config.linger_us = SECOND_US;
    struct accounts accounts = accounts_create(config, 1);
    struct account *account = &accounts.all[0], first = *account;
    unsigned taken = 0;
    attack_require(attack, reconnect_all(&accounts) == 1, "the account is not admitted");
    if (restarted) {
        hc_server_destroy(accounts.target.host);
        accounts.target.host = hc_sv_host_create(
            &config, NULL, HC_TEST_UNIX_US + accounts.target.now_us, accounts.target.now_us);
        account->raw.host = first.raw.host = accounts.target.host;
        attack_require(attack, reconnect_all(&accounts) == 1, "its ticket is refused");
    }
    attack_require(attack, account->has_ticket, "it has no ticket");
    end_session(&accounts, account, ending);
    attack_require(attack, hc_server_clients(accounts.target.host) == 0, "it is still there");
    taken += reconnect(&accounts, account) == HC_DATAGRAM_ACCEPT;
    hc_server_kick(accounts.target.host, account->raw.cid, HC_CLOSE_KICKED, accounts.target.now_us);
    accounts_run(&accounts, 2 * SECOND_US);
    taken += reconnect(&accounts, &first) == HC_DATAGRAM_ACCEPT;
    accounts_run(&accounts, 2 * SECOND_US);
    struct account other = {.has_ticket = false};
    raw_client_begin(&other.raw, accounts.target.host, address_of(0), 1,
                     HC_TEST_UNIX_S + accounts.target.now_us / SECOND_US);
    attack_require(attack, reconnect(&accounts, &other) == HC_DATAGRAM_ACCEPT,
                   "another token is refused after end %d", (int)ending);
    accounts_destroy(&accounts);
    return taken;
}

void attack_void_tokens(struct attack *attack) {
    unsigned kept = 0;
    for (unsigned n = 0; n < 2 * ENDINGS; n++) {
        enum ending ending = n / 2;
        unsigned taken = taken_after(attack, ending, n % 2 != 0);
        attack->tries += ending < OVERRUN ? 2 : 0;
        attack->accepted += ending < OVERRUN ? taken : 0;
        kept += ending < OVERRUN ? 0 : taken;
    }
    attack_require(attack, kept == 6, "%u of 6 tickets are taken after a loss or a leave", kept);
    attack_effect(attack,
                  "%d kinds of ends, also after a restart; %u of 6 tickets of clients that "
                  "were lost or left are taken",
                  OVERRUN, kept);
    attack_require_none(attack, 2 * 2 * OVERRUN);
}

// ---- Forgotten users ----------------------------------------------------------------------------

void attack_forgotten_users(struct attack *attack) {
    enum { VISITS = 20000, REMEMBERED = 256, WAITING = 64, HZ = 60 };
    static struct raw_client visitors[VISITS];
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct hc_rng rng = hc_rng_init(72, 1);
    config.remembered_users = REMEMBERED;
    struct accounts accounts = accounts_create(config, 1);
    const struct hc_server_stats *stats = hc_server_stats(accounts.target.host);
    unsigned denied = 0;
    attack_require(attack, reconnect_all(&accounts) == 1, "the player cannot join");
    for (unsigned n = 0; n < VISITS + WAITING; n++) {
        if (n < VISITS) // its token waits for others to be used
            raw_client_begin(&visitors[n], accounts.target.host, address_of(10 + n), 1000 + n,
                             HC_TEST_UNIX_S + n);
        if (n >= WAITING)
            denied += !connect_and_leave_as(&accounts, &visitors[n - WAITING]);
        if (n > WAITING) {
            struct raw_client again = visitors[hc_rng_below(&rng, n - WAITING)];
            attack_try(attack, connect_and_leave_as(&accounts, &again));
        }
        if (n % 8 != 0)
            continue;
        raw_client_send_data(&accounts.all[0].raw, NULL, 0, accounts.target.now_us);
        accounts_run(&accounts, SECOND_US / HZ);
    }
    attack_require(attack, denied == 0, "%u of %d new users are denied", denied, VISITS);
    attack_require(attack, stats->denials[HC_DENY_OUTDATED].count > VISITS / 2,
                   "only %llu tokens are outdated",
                   (unsigned long long)stats->denials[HC_DENY_OUTDATED].count);
    attack_require(attack, reconnect(&accounts, &accounts.all[0]) == HC_DATAGRAM_ACCEPT,
                   "a player loses its session");
    attack_effect(attack, "%d users, of whom %d are remembered: %u new ones denied", VISITS,
                  REMEMBERED, denied);
    attack_require_none(attack, VISITS - 1);
    accounts_destroy(&accounts);
}

void attack_clock_steps(struct attack *attack) {
    enum { VISITS = 20000, VISITED = 512 };
    static const int64_t steps_s[] = {0, 3600, 86400, 400 * 86400, -3600, 0, 30, -30};
    static struct raw_client visited[VISITED];
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct hc_rng rng = hc_rng_init(71, 1);
    struct accounts accounts = accounts_create(config, 1);
    struct hc_token_ring ring = hc_endpoint_token_ring();
    uint64_t begun_us = accounts.target.now_us, denied = 0;
    for (unsigned n = 0; n < VISITS; n++) {
        struct raw_client *visitor = &visited[n % VISITED];
        uint64_t right_us = HC_TEST_UNIX_US + accounts.target.now_us - begun_us;
        if (n % 100 == 0) {
            int64_t step_s = steps_s[hc_rng_below(&rng, sizeof steps_s / sizeof steps_s[0])];
            hc_server_set_time(accounts.target.host, right_us + (uint64_t)(step_s * SECOND_US),
                               accounts.target.now_us);
        }
        struct hc_token token = raw_client_token(1000000 + n);
        token.issued_s = right_us / SECOND_US;
        token.expire_s = token.issued_s + 60;
        raw_client_begin_as(visitor, accounts.target.host, address_of(n), &ring.keys[0], &token,
                            1000000 + n);
        denied += !connect_and_leave_as(&accounts, visitor);
        struct raw_client again = visited[hc_rng_below(&rng, n < VISITED ? n + 1 : VISITED)];
        attack_try(attack, connect_and_leave_as(&accounts, &again));
        if (n % 90 == 0)
            attack_require(attack, reconnect(&accounts, &accounts.all[0]) == HC_DATAGRAM_ACCEPT,
                           "a player does not get back");
        accounts_run(&accounts, SECOND_US / 60);
    }
    attack_effect(attack, "%d others came, and %llu were denied", VISITS,
                  (unsigned long long)denied);
    attack_require(attack, denied == 0, "%llu were denied", (unsigned long long)denied);
    attack_require_none(attack, VISITS);
    accounts_destroy(&accounts);
}

/// Sends a CONNECT with the victim's token, which names `continues` without a proof of it.
static enum hc_datagram_kind steal(struct accounts *accounts, struct raw_client *thief,
                                   uint32_t continues) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    struct hc_connect connect;
    memcpy(thief->cookie.client_nonce, &(uint64_t){++accounts->serial}, sizeof accounts->serial);
    if (!raw_client_hello(thief, accounts->target.now_us))
        return HC_DATAGRAM_NONE;
    raw_client_write_connect(thief, 1, bytes);
    HC_ASSERT(hc_datagram_get_connect(bytes, sizeof bytes, &connect) == HC_OK);
    connect.continues = continues;
    hc_endpoint_put_connect(&thief->endpoint, &connect, bytes);
    return raw_client_send_connect(thief, bytes, accounts->target.now_us);
}

void attack_takeover(struct attack *attack) {
    enum { SECONDS = 20, HZ = 60, NAMED = 4 };
    static const struct hc_seal_keys none;
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct accounts accounts = accounts_create(config, 1);
    const struct hc_server_stats *stats = hc_server_stats(accounts.target.host);
    struct hc_rng rng = hc_rng_init(72, 1);
    struct account *victim = &accounts.all[0];
    attack_require(attack, reconnect(&accounts, victim) == HC_DATAGRAM_ACCEPT,
                   "it is not admitted");
    struct raw_client thief = victim->raw;
    thief.address = address_of(100);
    thief.endpoint.keys = none;
    unsigned lost = 0;
    for (unsigned tick = 0; tick < SECONDS * HZ; tick++) {
        uint32_t cid = victim->raw.cid;
        uint32_t named[NAMED] = {cid, 0, cid ^ (uint32_t)hc_rng_next(&rng), cid ^ 1 << 12};
        attack_try(attack, steal(&accounts, &thief, named[tick % NAMED]) == HC_DATAGRAM_ACCEPT);
        lost += raw_client_send_data(&victim->raw, NULL, 0, accounts.target.now_us) != HC_OK;
        accounts_run(&accounts, SECOND_US / HZ + 1);
    }
    attack_require(attack, lost == 0, "%u DATA of the player were refused", lost);
    attack_require(attack, stats->denials[HC_DENY_CONNECTED].count > SECONDS * HZ / NAMED,
                   "denied for other reasons");
    attack_require(attack,
                   reconnect(&accounts, victim) == HC_DATAGRAM_ACCEPT && stats->resumed == 1,
                   "the owner cannot continue its session");
    attack_effect(attack, "the player plays on, and its own reconnect is admitted at once");
    attack_require_none(attack, SECONDS * HZ);
    accounts_destroy(&accounts);
}

/// Sends a CLOSE of this reason; returns the bytes of the answer, 0: there is none.
static size_t send_close(struct raw_client *raw, unsigned reason, uint64_t now_us) {
    uint8_t bytes[16];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    struct hc_close close = {.reason = (enum hc_close_reason)reason, .seconds = 1};
    hc_message_put_close(&body, &close);
    uint64_t before = raw->bytes_out;
    if (raw_client_send_data(raw, bytes, body.at, now_us) != HC_OK)
        return 0;
    raw_client_receive(raw, now_us);
    return (size_t)(raw->bytes_out - before);
}

void attack_foreign_closes(struct attack *attack) {
    enum { REPEATS = 4, ANSWER = HC_DATA_BODY_AT + HC_TAG_SIZE };
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    struct accounts accounts = accounts_create(config, 0);
    struct hc_server_event event;
    unsigned answers = 0;
    for (unsigned reason = 1; reason <= HC_CLOSE_GAME_LAST; reason++) {
        struct raw_client raw;
        raw_client_begin(&raw, accounts.target.host, address_of(reason), reason, ++accounts.serial);
        attack_require(attack, raw_client_join(&raw, 1, accounts.target.now_us),
                       "it is not admitted");
        while (hc_server_poll_event(accounts.target.host, &event)) {
        }
        unsigned rights =
            reason == HC_CLOSE_ERROR || reason == HC_CLOSE_DESYNC ? reason : HC_CLOSE_LEFT;
        for (unsigned n = 0; n < REPEATS; n++)
            answers += send_close(&raw, reason, accounts.target.now_us) == ANSWER;
        bool any = hc_server_poll_event(accounts.target.host, &event);
        attack_require(attack, any && event.kind == HC_SERVER_EVENT_LEFT, "it has not left");
        attack_try(attack, !event.by_client || event.close != rights);
        attack_require(attack, !hc_server_poll_event(accounts.target.host, &event),
                       "it left twice");
        accounts_run(&accounts, SECOND_US);
    }
    attack_require(attack, answers == REPEATS * HC_CLOSE_GAME_LAST, "%u answers", answers);
    attack_effect(attack, "%u answers of %d bytes; no end is the server's word", answers, ANSWER);
    attack_require_none(attack, HC_CLOSE_GAME_LAST);
    accounts_destroy(&accounts);
}
