/// The tickets with which clients reconnect.
#include "tests/sim/players.h"

#include "client/client.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum { CLIENTS = 2 };

START_TEST(every_ticket_has_a_secret_of_its_own) {
    static const uint8_t zeros[HC_TOKEN_SECRET_SIZE];
    struct hc_credential before[CLIENTS], after[CLIENTS];
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 20, 3);
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert(hc_sim_connect(sim, i));
        before[i] = hc_sim_client(sim, i)->link.handshake.credential;
    }
    hc_sim_run(sim, SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++) {
        after[i] = hc_sim_client(sim, i)->link.handshake.credential;
        ck_assert_mem_ne(after[i].token, before[i].token, HC_TOKEN_SIZE);
        ck_assert_mem_ne(after[i].secret, before[i].secret, HC_TOKEN_SECRET_SIZE);
        ck_assert_mem_ne(after[i].secret, zeros, HC_TOKEN_SECRET_SIZE);
    }
    ck_assert_mem_ne(after[0].secret, after[1].secret, HC_TOKEN_SECRET_SIZE);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("tickets");
    TCase *tests = tcase_create("tickets");
    tcase_add_test(tests, every_ticket_has_a_secret_of_its_own);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
