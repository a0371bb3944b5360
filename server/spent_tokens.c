/// Remembers the used tokens of each client_id.
#include "server/spent_tokens.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "common/limit.h"
#include "hindcast/check.h"

#include <string.h>
#include <xxhash.h>

enum { SECOND_US = 1000000 };

size_t hc_sv_spent_layout(struct hc_sv_spent *spent, uint32_t capacity, uint8_t *base) {
    size_t used = 0;
    spent->capacity = capacity;
    spent->buckets = 1;
    while (spent->buckets < capacity)
        spent->buckets *= 2;
    spent->clients = hc_carve(base, &used, capacity * sizeof *spent->clients);
    spent->heads = hc_carve(base, &used, spent->buckets * sizeof *spent->heads);
    return used;
}

void hc_sv_spent_copy(struct hc_sv_spent *spent, const struct hc_sv_spent *from) {
    struct hc_sv_spent_client *clients = spent->clients;
    uint32_t *heads = spent->heads;
    HC_ASSERT(spent->capacity == from->capacity && spent->count == 0);
    *spent = *from;
    spent->clients = clients;
    spent->heads = heads;
    memcpy(clients, from->clients, from->count * sizeof *clients);
    memcpy(heads, from->heads, from->buckets * sizeof *heads);
}

static uint32_t *head_of(const struct hc_sv_spent *spent, uint64_t client_id) {
    uint64_t hash = XXH3_64bits_withSeed(&client_id, sizeof client_id, spent->seed);
    return &spent->heads[hash & (spent->buckets - 1)];
}

static struct hc_sv_spent_client *find(const struct hc_sv_spent *spent, uint64_t client_id) {
    for (uint32_t at = *head_of(spent, client_id); at != 0; at = spent->clients[at - 1].next)
        if (spent->clients[at - 1].client_id == client_id)
            return &spent->clients[at - 1];
    return NULL;
}

/// Adds the entry at `index` to the list of its hash.
static void insert(struct hc_sv_spent *spent, uint32_t index) {
    uint32_t *head = head_of(spent, spent->clients[index].client_id);
    spent->clients[index].next = *head;
    *head = index + 1;
}

/// Removes the entries whose tokens have expired and whose connects no longer count.
static void sweep(struct hc_sv_spent *spent, uint64_t now_s, uint64_t now_us) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < spent->count; i++) {
        const struct hc_sv_spent_client *client = &spent->clients[i];
        if (client->expire_s > now_s || client->connects_us > now_us)
            spent->clients[left++] = *client;
        else if (client->expire_s > spent->void_s)
            spent->void_s = client->expire_s;
    }
    spent->count = left;
    memset(spent->heads, 0, spent->buckets * sizeof *spent->heads);
    for (uint32_t i = 0; i < left; i++)
        insert(spent, i);
}

/// Whether another client_id has room. Sweeps at most once a second, because a sweep takes long.
static bool has_room(struct hc_sv_spent *spent, uint64_t now_s, uint64_t now_us) {
    if (spent->count < spent->capacity)
        return true;
    if (spent->swept_us != 0 && hc_since(spent->swept_us, now_us) < SECOND_US)
        return false;
    spent->swept_us = now_us;
    sweep(spent, now_s, now_us);
    return spent->count < spent->capacity;
}

static struct hc_sv_spent_token *find_token(struct hc_sv_spent_client *client,
                                            const uint8_t token_id[static HC_TOKEN_ID_SIZE]) {
    for (unsigned i = 0; i < HC_SPENT_TOKENS; i++)
        if (client->tokens[i].order != 0 &&
            memcmp(client->tokens[i].token_id, token_id, HC_TOKEN_ID_SIZE) == 0)
            return &client->tokens[i];
    return NULL;
}

/// The order of a client_id's tokens by their time of issue; never 0.
static uint64_t order_of(const struct hc_token *token) {
    return token->issued_s + 1;
}

static bool is_void(struct hc_sv_spent_client *client, const struct hc_token *token) {
    if (token->expire_s <= client->void_s)
        return true;
    if (token->kind == HC_TOKEN_RESUME)
        return hc_token_number(token->token_id) <= client->ticket;
    return order_of(token) <= client->void_to || find_token(client, token->token_id) != NULL;
}

static bool connects_too_often(uint64_t *connects_us, uint64_t now_us) {
    return hc_limit_exceeds(connects_us, SECOND_US, HC_CONNECTS_AT_ONCE * SECOND_US, now_us);
}

uint16_t *hc_sv_spent_match(struct hc_sv_spent *spent, const struct hc_token *token) {
    struct hc_sv_spent_client *client = find(spent, token->client_id);
    if (client == NULL)
        return NULL;
    if (token->kind == HC_TOKEN_RESUME)
        return hc_token_number(token->token_id) == client->ticket ? &client->ticket_match : NULL;
    struct hc_sv_spent_token *used = find_token(client, token->token_id);
    return used != NULL ? &used->match : NULL;
}

enum hc_deny_reason hc_sv_spent_check(struct hc_sv_spent *spent, const struct hc_token *token,
                                      bool own, uint64_t now_s, uint64_t now_us) {
    struct hc_sv_spent_client *client = find(spent, token->client_id);
    if (token->kind == HC_TOKEN_RESUME && hc_token_number(token->token_id) == 0)
        return HC_DENY_USED; // no server issues it, because 0 stands for none
    if (client == NULL && !own && token->expire_s <= spent->void_s)
        return HC_DENY_USED;
    if (client == NULL)
        return has_room(spent, now_s, now_us) ? 0 : HC_DENY_FULL;
    if (!own && is_void(client, token))
        return HC_DENY_USED;
    uint64_t connects_us = client->connects_us;
    return connects_too_often(&connects_us, now_us) ? HC_DENY_RATE : 0;
}

/// Adds a used token. It replaces the one that was issued first.
static void add_token(struct hc_sv_spent_client *client, const struct hc_token *token) {
    struct hc_sv_spent_token *oldest = &client->tokens[0];
    if (find_token(client, token->token_id) != NULL)
        return;
    for (unsigned i = 1; i < HC_SPENT_TOKENS; i++)
        if (client->tokens[i].order < oldest->order)
            oldest = &client->tokens[i];
    if (oldest->order > client->void_to)
        client->void_to = oldest->order;
    memcpy(oldest->token_id, token->token_id, HC_TOKEN_ID_SIZE);
    oldest->order = order_of(token);
    oldest->match = 0;
}

bool hc_sv_spent_use(struct hc_sv_spent *spent, const struct hc_token *token, uint64_t now_s,
                     uint64_t now_us) {
    struct hc_sv_spent_client *client = find(spent, token->client_id);
    if (client == NULL && !has_room(spent, now_s, now_us))
        return false;
    if (client == NULL) {
        client = &spent->clients[spent->count++];
        *client =
            (struct hc_sv_spent_client){.client_id = token->client_id, .void_s = spent->void_s};
        insert(spent, spent->count - 1);
    }
    (void)connects_too_often(&client->connects_us, now_us);
    if (token->expire_s > client->expire_s)
        client->expire_s = token->expire_s;
    uint64_t number = hc_token_number(token->token_id);
    if (token->kind != HC_TOKEN_RESUME) {
        add_token(client, token);
    } else if (number > client->ticket) {
        client->ticket_before = client->ticket;
        client->ticket = number;
        client->ticket_match = 0;
    }
    return true;
}

void hc_sv_spent_forget(struct hc_sv_spent *spent, uint64_t client_id,
                        const uint8_t token_id[static HC_TOKEN_ID_SIZE], bool ticket) {
    struct hc_sv_spent_client *client = find(spent, client_id);
    if (client == NULL)
        return;
    struct hc_sv_spent_token *token = ticket ? NULL : find_token(client, token_id);
    if (token != NULL)
        *token = (struct hc_sv_spent_token){.order = 0};
    if (ticket && client->ticket == hc_token_number(token_id)) {
        client->ticket = client->ticket_before;
        client->ticket_match = 0;
    }
}

uint64_t hc_sv_spent_ticket(const struct hc_sv_spent *spent, uint64_t client_id) {
    const struct hc_sv_spent_client *client = find(spent, client_id);
    return client != NULL ? client->ticket : 0;
}
