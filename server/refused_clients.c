/// Finds a client_id among the refused ones.
#include "server/refused_clients.h"

bool hc_sv_refused_has(const struct hc_sv_refused *refused, uint64_t client_id) {
    uint32_t from = 0, end = refused->count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (refused->client_ids[middle] < client_id)
            from = middle + 1;
        else
            end = middle;
    }
    return from < refused->count && refused->client_ids[from] == client_id;
}
