/// The host that rows attack.
#include "tests/attack/target.h"

#include "hindcast/arena.h"

#include <sodium.h>

struct raw_host target_create(uint16_t clients) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    uint8_t secret[HC_SERVER_SECRET_SIZE];
    randombytes_buf(secret, sizeof secret);
    config.clients = clients;
    config.seed = 1;
    config.secret = secret;
    return raw_host_create(&config);
}
