#include "server/used.h"

#include "hindcast/check.h"

#include <string.h>

/// Its place, or used->count.
static uint32_t find(const struct hc_sv_used *used,
                     const uint8_t token_id[static HC_TOKEN_ID_SIZE]) {
    uint32_t i = 0;
    while (i < used->count && memcmp(used->entries[i].token_id, token_id, HC_TOKEN_ID_SIZE) != 0)
        i++;
    return i;
}

bool hc_sv_used_has(const struct hc_sv_used *used,
                    const uint8_t token_id[static HC_TOKEN_ID_SIZE]) {
    return find(used, token_id) < used->count;
}

void hc_sv_used_forget(struct hc_sv_used *used, const uint8_t token_id[static HC_TOKEN_ID_SIZE]) {
    uint32_t place = find(used, token_id);
    if (place < used->count)
        used->entries[place] = used->entries[--used->count];
}

bool hc_sv_used_room(struct hc_sv_used *used, uint64_t now_s) {
    uint32_t kept = 0;
    if (used->count < used->capacity)
        return true;
    for (uint32_t i = 0; i < used->count; i++)
        if (used->entries[i].expire_s > now_s)
            used->entries[kept++] = used->entries[i];
    used->count = kept;
    return used->count < used->capacity;
}

void hc_sv_used_add(struct hc_sv_used *used, const uint8_t token_id[static HC_TOKEN_ID_SIZE],
                    uint64_t expire_s) {
    HC_ASSERT(used->count < used->capacity);
    struct hc_sv_used_entry *entry = &used->entries[used->count++];
    memcpy(entry->token_id, token_id, HC_TOKEN_ID_SIZE);
    entry->expire_s = expire_s;
}
