/// The hashes and tags by which peers and ended connections are found.
#include "server/search.h"

#include "common/alloc.h"
#include "server/host_internal.h"

#include <string.h>

size_t hc_sv_search_layout(struct hc_sv_search *search, uint32_t clients, uint8_t *base) {
    size_t used = 0;
    search->prefixes = hc_carve(base, &used, clients * sizeof *search->prefixes);
    search->users = hc_carve(base, &used, clients * sizeof *search->users);
    search->ended =
        hc_carve(base, &used, (size_t)clients * HC_SV_ENDED_EACH * sizeof *search->ended);
    return used;
}

static uint64_t user_of(const struct hc_sv_search *search, uint64_t client_id) {
    return client_id ^ search->seed;
}

/// A tag that few client_ids share; never 0, which stands for no connection.
static uint16_t tag_of(const struct hc_sv_search *search, uint64_t client_id) {
    return (uint16_t)(user_of(search, client_id) * UINT64_C(0x9e3779b97f4a7c15) >> 48 | 1);
}

void hc_sv_search_connected(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t client_id,
                            const struct hc_address *address) {
    host->search.users[peer - host->peers] = user_of(&host->search, client_id);
    hc_sv_search_move(host, peer, address);
}

void hc_sv_search_move(struct hc_sv_host *host, struct hc_sv_peer *peer,
                       const struct hc_address *address) {
    peer->address = *address;
    host->search.prefixes[peer - host->peers] =
        hc_sv_address_limit_hash(address, host->search.seed);
}

void hc_sv_search_ended(struct hc_sv_host *host, size_t place, uint64_t client_id) {
    host->search.ended[place] = tag_of(&host->search, client_id);
}

struct hc_sv_peer *hc_sv_search_client(struct hc_sv_host *host, uint64_t client_id) {
    uint64_t user = user_of(&host->search, client_id);
    for (unsigned i = 0; i < host->places; i++) {
        if (host->search.users[i] != user)
            continue;
        host->search.matches++;
        struct hc_sv_peer *peer = &host->peers[i];
        if (hc_sv_peer_has_session(peer) && peer->user.client_id == client_id)
            return peer;
    }
    return NULL;
}

/// Whether the tag is in a ring; without a branch, because compilers then compare many at once.
static bool any_has_tag(const uint16_t tags[static HC_SV_ENDED_EACH], uint16_t tag) {
    uint16_t any = 0;
    for (unsigned i = 0; i < HC_SV_ENDED_EACH; i++)
        any |= (uint16_t)(tags[i] == tag);
    return any != 0;
}

bool hc_sv_search_has_ended(struct hc_sv_host *host, uint64_t client_id, const uint8_t *nonce,
                            uint64_t now_us) {
    uint16_t tag = tag_of(&host->search, client_id);
    for (unsigned ring = 0; ring < host->places; ring++) {
        size_t first = (size_t)ring * HC_SV_ENDED_EACH;
        bool any = any_has_tag(&host->search.ended[first], tag);
        host->search.matches += any;
        for (size_t i = first; any && i < first + HC_SV_ENDED_EACH; i++) {
            const struct hc_sv_ended *ended = &host->ended[i];
            if (now_us < ended->until_us && !ended->never_received &&
                ended->client_id == client_id &&
                memcmp(ended->client_nonce, nonce, HC_NONCE_SIZE) == 0)
                return true;
        }
    }
    return false;
}

bool hc_sv_search_address_is_full(struct hc_sv_host *host, const struct hc_address *address,
                                  const struct hc_sv_peer *except) {
    uint8_t prefix[16], other[16];
    unsigned count = 0, most = host->config.clients_per_address;
    if (most == 0 || hc_address_is_loopback(address))
        return false;
    hc_sv_address_limit_prefix(address, prefix);
    uint64_t hash = hc_sv_address_limit_hash(address, host->search.seed);
    for (unsigned i = 0; i < host->places; i++) {
        if (host->search.prefixes[i] != hash)
            continue;
        host->search.matches++;
        const struct hc_sv_peer *peer = &host->peers[i];
        hc_sv_address_limit_prefix(&peer->address, other);
        count += peer->state == HC_SV_PEER_PLAYING && peer != except &&
                 memcmp(prefix, other, sizeof prefix) == 0;
    }
    return count >= most;
}
