/// The hashes and tags by which peers and ended connections are found.
#include "server/search.h"

#include "common/alloc.h"
#include "server/address_limit.h"

size_t hc_sv_search_layout(struct hc_sv_search *search, uint32_t places, uint8_t *base) {
    size_t used = 0;
    search->places = places;
    search->prefixes = hc_carve(base, &used, places * sizeof *search->prefixes);
    search->users = hc_carve(base, &used, places * sizeof *search->users);
    search->ended =
        hc_carve(base, &used, (size_t)places * HC_SV_ENDED_EACH * sizeof *search->ended);
    return used;
}

static uint64_t user_of(const struct hc_sv_search *search, uint64_t client_id) {
    return client_id ^ search->seed;
}

/// A tag that few client_ids share; never 0, which stands for no connection.
static uint16_t tag_of(const struct hc_sv_search *search, uint64_t client_id) {
    return (uint16_t)(user_of(search, client_id) * UINT64_C(0x9e3779b97f4a7c15) >> 48 | 1);
}

void hc_sv_search_user(struct hc_sv_search *search, unsigned place, uint64_t client_id) {
    search->users[place] = user_of(search, client_id);
}

void hc_sv_search_address(struct hc_sv_search *search, unsigned place,
                          const struct hc_address *address) {
    search->prefixes[place] = hc_sv_search_hash(search, address);
}

void hc_sv_search_ended(struct hc_sv_search *search, unsigned place, unsigned index,
                        uint64_t client_id) {
    search->ended[(size_t)place * HC_SV_ENDED_EACH + index] = tag_of(search, client_id);
}

/// The first place from `from` on with this hash; the number of all: none has it.
static unsigned next_of(struct hc_sv_search *search, const uint64_t *hashes, unsigned from,
                        uint64_t hash) {
    while (from < search->places && hashes[from] != hash)
        from++;
    search->matches += from < search->places;
    return from;
}

unsigned hc_sv_search_next_user(struct hc_sv_search *search, unsigned from, uint64_t client_id) {
    return next_of(search, search->users, from, user_of(search, client_id));
}

uint64_t hc_sv_search_hash(const struct hc_sv_search *search, const struct hc_address *address) {
    return hc_sv_address_limit_hash(address, search->seed);
}

unsigned hc_sv_search_next_address(struct hc_sv_search *search, unsigned from, uint64_t hash) {
    return next_of(search, search->prefixes, from, hash);
}

/// Whether the tag is in a ring; without a branch, because compilers then compare many at once.
static bool any_has_tag(const uint16_t tags[static HC_SV_ENDED_EACH], uint16_t tag) {
    uint16_t any = 0;
    for (unsigned i = 0; i < HC_SV_ENDED_EACH; i++)
        any |= (uint16_t)(tags[i] == tag);
    return any != 0;
}

unsigned hc_sv_search_next_ended(struct hc_sv_search *search, unsigned from, uint64_t client_id) {
    uint16_t tag = tag_of(search, client_id);
    while (from < search->places &&
           !any_has_tag(&search->ended[(size_t)from * HC_SV_ENDED_EACH], tag))
        from++;
    search->matches += from < search->places;
    return from;
}
