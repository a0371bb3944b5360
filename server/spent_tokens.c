/// Remembers the used tokens of each client_id.
#include "server/spent_tokens.h"

#include "common/alloc.h"
#include "common/limit.h"
#include "hindcast/check.h"

#include <string.h>
#include <xxhash.h>

enum {
    SECOND_US = 1000000,
    LOOKS = 16,       ///< entries that each use checks for expiry
    LOOKS_MOST = 256, ///< entries that are checked at most when none is free
};

size_t hc_sv_spent_layout(struct hc_sv_spent *spent, uint32_t capacity, uint8_t *base) {
    size_t used = 0;
    spent->counts.capacity = spent->capacity = capacity;
    spent->buckets = 1;
    while (spent->buckets < capacity)
        spent->buckets *= 2;
    spent->clients = hc_carve(base, &used, capacity * sizeof *spent->clients);
    spent->heads = hc_carve(base, &used, spent->buckets * sizeof *spent->heads);
    spent->heap = hc_carve(base, &used, capacity * sizeof *spent->heap);
    return used;
}

// ---- Entries by client_id -----------------------------------------------------------------------

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

static uint32_t index_of(const struct hc_sv_spent *spent, const struct hc_sv_spent_client *client) {
    return (uint32_t)(client - spent->clients);
}

// ---- Entries by the age of their tokens ---------------------------------------------------------

static uint32_t newest_at(const struct hc_sv_spent *spent, uint32_t place) {
    return spent->clients[spent->heap[place]].newest;
}

static void put_at(struct hc_sv_spent *spent, uint32_t place, uint32_t index) {
    spent->heap[place] = index;
    spent->clients[index].place = place;
}

static void swap(struct hc_sv_spent *spent, uint32_t a, uint32_t b) {
    uint32_t index = spent->heap[a];
    put_at(spent, a, spent->heap[b]);
    put_at(spent, b, index);
}

/// Restores the order of the heap around the entry at a place.
static void settle(struct hc_sv_spent *spent, uint32_t place) {
    while (place > 0 && newest_at(spent, place) < newest_at(spent, (place - 1) / 2)) {
        swap(spent, place, (place - 1) / 2);
        place = (place - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < spent->heap_count && newest_at(spent, child + 1) < newest_at(spent, child))
            child++;
        if (child >= spent->heap_count || newest_at(spent, place) <= newest_at(spent, child))
            return;
        swap(spent, place, child);
        place = child;
    }
}

/// From now on the entry may go.
static void push(struct hc_sv_spent *spent, uint32_t index) {
    put_at(spent, spent->heap_count++, index);
    settle(spent, spent->heap_count - 1);
}

/// From now on the entry stays.
static void take_out(struct hc_sv_spent *spent, struct hc_sv_spent_client *client) {
    uint32_t place = client->place;
    client->place = HC_SV_SPENT_STAYS;
    if (place == --spent->heap_count)
        return;
    put_at(spent, place, spent->heap[spent->heap_count]);
    settle(spent, place);
}

static void grow(uint32_t *value, uint32_t least) {
    *value = least > *value ? least : *value;
}

/// Notes that a token of this order was used, or that all up to it are void.
static void note_order(struct hc_sv_spent *spent, struct hc_sv_spent_client *client,
                       uint32_t order) {
    grow(&client->newest, order);
    if (client->place != HC_SV_SPENT_STAYS)
        settle(spent, client->place);
}

// ---- Room ---------------------------------------------------------------------------------------

static void release(struct hc_sv_spent *spent, struct hc_sv_spent_client *client) {
    uint32_t index = index_of(spent, client), *link = head_of(spent, client->client_id);
    take_out(spent, client);
    while (*link != index + 1)
        link = &spent->clients[*link - 1].next;
    *link = client->next;
    *client = (struct hc_sv_spent_client){.next = spent->free};
    spent->free = index + 1;
    spent->counts.users--;
}

/// Looks at up to `most` entries, and releases those whose tokens have expired and whose connects
/// no longer count.
static void release_expired(struct hc_sv_spent *spent, unsigned most, uint64_t now_s,
                            uint64_t now_us) {
    for (unsigned i = 0; i < most && i < spent->touched; i++) {
        spent->cursor = spent->cursor + 1 < spent->touched ? spent->cursor + 1 : 0;
        struct hc_sv_spent_client *client = &spent->clients[spent->cursor];
        bool used = client->expire_s != 0 && client->place != HC_SV_SPENT_STAYS;
        if (!used || client->expire_s > now_s || client->connects_us > now_us)
            continue;
        grow(&spent->void_s, client->expire_s);
        release(spent, client);
    }
}

/// Whether another client_id has room: an entry is free, or may go.
static bool has_room(const struct hc_sv_spent *spent) {
    return spent->counts.users < spent->capacity || spent->heap_count > 0;
}

/// Releases the entry whose newest token was issued first.
static void release_oldest(struct hc_sv_spent *spent, uint64_t now_s) {
    struct hc_sv_spent_client *oldest = &spent->clients[spent->heap[0]];
    bool expired = oldest->expire_s <= now_s;
    if (expired)
        grow(&spent->void_s, oldest->expire_s);
    else
        grow(&spent->outdated_to, oldest->newest);
    spent->counts.forgotten += !expired;
    release(spent, oldest);
}

static bool is_full(const struct hc_sv_spent *spent) {
    return spent->counts.users == spent->capacity;
}

/// Adds an entry for a client_id, in place of the oldest one if none is free. NULL: all stay.
static struct hc_sv_spent_client *add(struct hc_sv_spent *spent, uint64_t client_id, uint64_t now_s,
                                      uint64_t now_us) {
    if (!has_room(spent))
        return NULL;
    if (is_full(spent))
        release_expired(spent, LOOKS_MOST, now_s, now_us);
    if (is_full(spent))
        release_oldest(spent, now_s);
    uint32_t index = spent->free != 0 ? spent->free - 1 : spent->touched++;
    struct hc_sv_spent_client *client = &spent->clients[index];
    uint32_t *head = head_of(spent, client_id);
    spent->free = client->next;
    *client = (struct hc_sv_spent_client){.client_id = client_id,
                                          .void_s = spent->void_s,
                                          .outdated_to = spent->outdated_to,
                                          .next = *head};
    *head = index + 1;
    spent->counts.users++;
    push(spent, index);
    return client;
}

void hc_sv_spent_copy(struct hc_sv_spent *spent, const struct hc_sv_spent *from) {
    struct hc_sv_spent_client *clients = spent->clients;
    uint32_t *heads = spent->heads, *heap = spent->heap;
    HC_ASSERT(spent->capacity == from->capacity && spent->touched == 0);
    *spent = *from;
    spent->clients = clients;
    spent->heads = heads;
    spent->heap = heap;
    memcpy(clients, from->clients, from->touched * sizeof *clients);
    memcpy(heads, from->heads, from->buckets * sizeof *heads);
    memcpy(heap, from->heap, from->heap_count * sizeof *heap);
    for (uint32_t i = 0; i < spent->touched; i++)
        if (clients[i].place == HC_SV_SPENT_STAYS)
            push(spent, i);
}

// ---- Tokens -------------------------------------------------------------------------------------

static struct hc_sv_spent_token *find_token(struct hc_sv_spent_client *client,
                                            const uint8_t token_id[static HC_TOKEN_ID_SIZE]) {
    for (unsigned i = 0; i < HC_SPENT_TOKENS; i++)
        if (client->tokens[i].order != 0 &&
            memcmp(client->tokens[i].token_id, token_id, HC_TOKEN_ID_SIZE) == 0)
            return &client->tokens[i];
    return NULL;
}

static uint32_t seconds(uint64_t s) {
    return s < UINT32_MAX ? (uint32_t)s : UINT32_MAX;
}

/// The order of tokens by their time of issue; never 0.
static uint32_t order_of(uint64_t issued_s) {
    return seconds(issued_s + 1);
}

/// Whether the client_id has used the token, or cannot use it any more.
static bool is_used(struct hc_sv_spent_client *client, const struct hc_token *token) {
    if (token->expire_s <= client->void_s)
        return true;
    if (token->kind == HC_TOKEN_RESUME)
        return hc_token_number(token->token_id) <= client->ticket;
    return order_of(token->issued_s) <= client->void_to ||
           find_token(client, token->token_id) != NULL;
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

enum hc_deny_reason hc_sv_spent_check(const struct hc_sv_spent *spent, const struct hc_token *token,
                                      bool own, uint64_t now_us) {
    struct hc_sv_spent_client none = {.void_s = spent->void_s, .outdated_to = spent->outdated_to};
    struct hc_sv_spent_client *client = find(spent, token->client_id);
    bool known = client != NULL;
    client = known ? client : &none;
    if (token->kind == HC_TOKEN_RESUME && hc_token_number(token->token_id) == 0)
        return HC_DENY_USED; // no server issues it, because 0 stands for none
    if (!own && is_used(client, token))
        return HC_DENY_USED;
    if (!own && order_of(token->issued_s) <= client->outdated_to)
        return HC_DENY_OUTDATED;
    if (!known && !has_room(spent))
        return HC_DENY_FULL;
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
    grow(&client->void_to, oldest->order);
    memcpy(oldest->token_id, token->token_id, HC_TOKEN_ID_SIZE);
    oldest->order = order_of(token->issued_s);
    oldest->match = 0;
}

bool hc_sv_spent_use(struct hc_sv_spent *spent, const struct hc_token *token, uint64_t now_s,
                     uint64_t now_us) {
    release_expired(spent, LOOKS, now_s, now_us);
    struct hc_sv_spent_client *client = find(spent, token->client_id);
    if (client == NULL)
        client = add(spent, token->client_id, now_s, now_us);
    if (client == NULL)
        return false;
    (void)connects_too_often(&client->connects_us, now_us);
    grow(&client->expire_s, seconds(token->expire_s));
    note_order(spent, client, order_of(token->issued_s));
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

void hc_sv_spent_begin(struct hc_sv_spent *spent, uint64_t client_id) {
    struct hc_sv_spent_client *client = find(spent, client_id);
    if (client != NULL && client->place != HC_SV_SPENT_STAYS)
        take_out(spent, client);
}

void hc_sv_spent_end(struct hc_sv_spent *spent, uint64_t client_id) {
    struct hc_sv_spent_client *client = find(spent, client_id);
    if (client != NULL && client->place == HC_SV_SPENT_STAYS)
        push(spent, index_of(spent, client));
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

void hc_sv_spent_void(struct hc_sv_spent *spent, uint64_t client_id, uint64_t ticket,
                      uint64_t issued_s, uint64_t now_s) {
    struct hc_sv_spent_client *client = find(spent, client_id);
    HC_ASSERT(client != NULL);
    client->ticket = ticket > client->ticket ? ticket : client->ticket;
    if (issued_s != 0)
        grow(&client->void_to, order_of(issued_s));
    grow(&client->expire_s, seconds(now_s + HC_TICKET_LIFE_S));
    note_order(spent, client, order_of(now_s));
}

uint64_t hc_sv_spent_ticket(const struct hc_sv_spent *spent, uint64_t client_id) {
    const struct hc_sv_spent_client *client = find(spent, client_id);
    return client != NULL ? client->ticket : 0;
}
