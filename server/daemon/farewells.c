/// Owns two copies of farewells, of which one is read while the other is written.
#include "server/daemon/farewells.h"

#include <stdlib.h>
#include <string.h>

bool hc_sv_farewells_open(struct hc_sv_farewells *farewells, uint32_t most) {
    farewells->most = most;
    for (unsigned i = 0; i < 2; i++)
        farewells->all[i] = calloc(most, sizeof(*farewells->all[i]));
    return farewells->all[0] != NULL && farewells->all[1] != NULL;
}

void hc_sv_farewells_close(struct hc_sv_farewells *farewells) {
    for (unsigned i = 0; i < 2; i++)
        free(farewells->all[i]);
    *farewells = (struct hc_sv_farewells){.most = 0};
}

void hc_sv_farewells_renew(struct hc_sv_farewells *farewells, struct hc_server *server) {
    unsigned next = 1 - atomic_load(&farewells->current);
    uint32_t count = hc_server_farewells(server, farewells->all[next], farewells->most);
    farewells->counts[next] = count < farewells->most ? count : farewells->most;
    atomic_store(&farewells->current, next);
}

const struct hc_server_farewell *hc_sv_farewells_read(const struct hc_sv_farewells *farewells,
                                                      uint32_t *count) {
    unsigned current = atomic_load(&farewells->current);
    *count = farewells->counts[current];
    return farewells->all[current];
}

void hc_sv_farewells_send(const struct hc_sv_farewells *farewells, bool restarts,
                          struct hc_sv_doors *doors) {
    uint32_t count;
    const struct hc_server_farewell *all = hc_sv_farewells_read(farewells, &count);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(hc_sv_doors_room(doors), all[i].bytes[restarts], all[i].sizes[restarts]);
        hc_sv_doors_queue(doors, &all[i].to, all[i].sizes[restarts]);
    }
    hc_sv_doors_flush(doors);
}
