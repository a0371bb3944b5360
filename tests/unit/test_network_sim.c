/// Tests of hindcast/network_sim.h: fates, order and counters.
#include "hindcast/network_sim.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

/// Creates a network simulation with `config` and room for many packets.
static struct hc_network_sim *make(struct hc_network_sim_config config, uint64_t seed) {
    struct hc_network_sim *sim = hc_network_sim_create(&config, seed, 4096, NULL);
    ck_assert_ptr_nonnull(sim);
    return sim;
}

static void check_counters(const struct hc_network_sim *sim) {
    struct hc_network_sim_stats stats = hc_network_sim_stats(sim);
    ck_assert_uint_eq(stats.sent + stats.duplicated, stats.delivered + stats.lost +
                                                         stats.dropped_full + stats.dropped_queue +
                                                         hc_network_sim_in_flight(sim));
}

static struct hc_network_sim_config any_config(struct hc_rng *rng) {
    return (struct hc_network_sim_config){
        .latency_us = hc_rng_below(rng, 100000),
        .jitter_us = hc_rng_below(rng, 150000),
        .loss_ppm = hc_rng_below(rng, 500000),
        .burst_mean = hc_rng_below(rng, 6),
        .duplicate_ppm = hc_rng_below(rng, 500000),
        .reorder_ppm = hc_rng_below(rng, 500000),
    };
}

START_TEST(packets_arrive_whole_in_order_of_due_time_and_of_sending) {
    for (uint32_t stream = 0; stream < 20; stream++) {
        struct hc_rng rng = hc_rng_init(41, stream);
        struct hc_network_sim_config config = any_config(&rng);
        struct hc_network_sim *sim = make(config, stream);
        uint64_t latest =
            (uint64_t)config.latency_us + config.jitter_us + HC_NETWORK_SIM_REORDER_US_MAX;
        for (uint32_t i = 0; i < 1500; i++) {
            uint8_t bytes[1500];
            size_t length = 4 + i % 1497;
            memset(bytes, (int)(i & 0xff), sizeof bytes);
            memcpy(bytes, &i, sizeof i);
            // Steps of 1 ms with many packets each: ties are common.
            hc_network_sim_send(sim, i / 8 * 1000, bytes, length);
        }
        check_counters(sim);

        uint64_t last_due = 0;
        while (hc_network_sim_deadline(sim) != UINT64_MAX) {
            uint64_t due = hc_network_sim_deadline(sim);
            uint8_t bytes[1500];
            ck_assert(due == 0 || hc_network_sim_receive(sim, due - 1, bytes, sizeof bytes) == -1);
            int length = hc_network_sim_receive(sim, due, bytes, sizeof bytes);
            uint32_t i;
            memcpy(&i, bytes, sizeof i);
            ck_assert_msg(length == (int)(4 + i % 1497), "stream %u, packet %u", stream, i);
            uint8_t wanted[1500];
            memset(wanted, (int)(i & 0xff), sizeof wanted);
            ck_assert(memcmp(bytes + 4, wanted, (size_t)length - 4) == 0);
            uint64_t sent = i / 8 * 1000;
            uint64_t soonest =
                config.latency_us > config.jitter_us ? config.latency_us - config.jitter_us : 0;
            ck_assert(due >= last_due && due >= sent + soonest && due <= sent + latest);
            last_due = due;
        }
        check_counters(sim);
        hc_network_sim_destroy(sim);
    }
}
END_TEST

START_TEST(packets_due_together_arrive_in_the_order_of_sending) {
    struct hc_network_sim *sim = make(hc_network_sim_config_default(), 1);
    for (uint16_t i = 0; i < 1000; i++)
        hc_network_sim_send(sim, 7, &i, sizeof i);
    for (uint16_t i = 0; i < 1000; i++) {
        uint16_t got;
        ck_assert_int_eq(hc_network_sim_receive(sim, 7, &got, sizeof got), sizeof got);
        ck_assert_uint_eq(got, i);
    }
    hc_network_sim_destroy(sim);
}
END_TEST

/// A digest of the arrivals of 500 packets.
static uint64_t arrivals(uint64_t seed, struct hc_network_sim_config config) {
    struct hc_network_sim *sim = make(config, seed);
    for (uint32_t i = 0; i < 500; i++)
        hc_network_sim_send(sim, i * 500, &i, sizeof i);
    uint64_t digest = 0;
    for (uint64_t due; (due = hc_network_sim_deadline(sim)) != UINT64_MAX;) {
        uint32_t i = 0;
        hc_network_sim_receive(sim, due, &i, sizeof i);
        digest = hc_random(digest, i, (uint32_t)due, 0);
    }
    hc_network_sim_destroy(sim);
    return digest;
}

START_TEST(one_seed_gives_one_sequence_of_arrivals) {
    for (uint32_t stream = 0; stream < 50; stream++) {
        struct hc_rng rng = hc_rng_init(42, stream);
        struct hc_network_sim_config config = any_config(&rng);
        config.jitter_us += 1000;
        ck_assert_uint_eq(arrivals(stream, config), arrivals(stream, config));
        ck_assert_uint_ne(arrivals(stream, config), arrivals(stream + 1, config));
    }
}
END_TEST

START_TEST(losses_are_as_frequent_and_bursts_as_long_as_configured) {
    static const uint32_t losses[] = {10000, 50000, 200000, 500000};
    static const uint32_t means[] = {1, 2, 3, 8};
    for (int l = 0; l < 4; l++)
        for (int m = 0; m < 4; m++) {
            struct hc_network_sim_config config = {.loss_ppm = losses[l], .burst_mean = means[m]};
            struct hc_network_sim *sim = make(config, 5);
            uint64_t lost = 0, bursts = 0, packets = losses[l] < 100000 ? 1000000 : 100000;
            bool in_burst = false;
            for (uint64_t i = 0; i < packets; i++) {
                hc_network_sim_send(sim, i, NULL, 0);
                bool arrived = hc_network_sim_receive(sim, i, NULL, 0) == 0;
                lost += !arrived;
                bursts += !arrived && !in_burst;
                in_burst = !arrived;
            }
            double ppm = (double)lost / (double)packets * 1e6;
            double mean = (double)lost / (double)bursts;
            // Independent losses make short bursts too.
            double wanted = means[m] == 1 ? 1e6 / (1e6 - losses[l]) : means[m];
            ck_assert_msg(ppm > losses[l] * 0.9 && ppm < losses[l] * 1.1 && mean > wanted * 0.9 &&
                              mean < wanted * 1.1,
                          "loss %u, burst %u: %f, %f", losses[l], means[m], ppm, mean);
            ck_assert_uint_eq(hc_network_sim_stats(sim).lost, lost);
            hc_network_sim_destroy(sim);
        }
}
END_TEST

START_TEST(a_loss_too_high_for_short_bursts_makes_them_longer) {
    struct hc_network_sim *sim =
        make((struct hc_network_sim_config){.loss_ppm = 900000, .burst_mean = 2}, 6);
    for (uint64_t i = 0; i < 100000; i++) {
        hc_network_sim_send(sim, i, NULL, 0);
        hc_network_sim_receive(sim, i, NULL, 0);
    }
    uint64_t lost = hc_network_sim_stats(sim).lost;
    ck_assert_msg(lost > 89000 && lost < 91000, "%u", (unsigned)lost);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(copies_and_reordered_packets_are_as_frequent_as_configured) {
    struct hc_network_sim_config config = {
        .latency_us = 1000, .duplicate_ppm = 300000, .reorder_ppm = 200000};
    struct hc_network_sim *sim = make(config, 7);
    uint64_t late = 0, packets = 100000;
    for (uint64_t i = 0; i < packets; i++) {
        uint64_t now = i * 1000000;
        hc_network_sim_send(sim, now, "x", 1);
        while (hc_network_sim_deadline(sim) != UINT64_MAX) {
            char byte;
            uint64_t due = hc_network_sim_deadline(sim);
            late += due > now + config.latency_us;
            ck_assert_int_eq(hc_network_sim_receive(sim, due, &byte, 1), 1);
        }
    }
    struct hc_network_sim_stats stats = hc_network_sim_stats(sim);
    ck_assert_uint_eq(stats.delivered, packets + stats.duplicated);
    ck_assert(stats.duplicated > 29000 && stats.duplicated < 31000);
    ck_assert(late > stats.delivered * 19 / 100 && late < stats.delivered * 21 / 100);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(a_full_simulation_drops_and_counts_the_newest_packet) {
    struct hc_network_sim_config config = {.latency_us = 1000};
    struct hc_network_sim *sim = hc_network_sim_create(&config, 1, 3, NULL);
    for (uint8_t i = 0; i < 5; i++)
        hc_network_sim_send(sim, i, &i, 1);
    ck_assert_uint_eq(hc_network_sim_in_flight(sim), 3);
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_full, 2);
    uint8_t got;
    ck_assert_int_eq(hc_network_sim_receive(sim, 1000, &got, 1), 1);
    ck_assert_uint_eq(got, 0);
    uint8_t ninth = 9;
    hc_network_sim_send(sim, 1000, &ninth, 1);
    for (uint8_t wanted = 1; wanted < 4; wanted++) {
        ck_assert_int_eq(hc_network_sim_receive(sim, 5000, &got, 1), 1);
        ck_assert_uint_eq(got, wanted == 3 ? 9 : wanted);
    }
    ck_assert_int_eq(hc_network_sim_receive(sim, 5000, &got, 1), -1);
    check_counters(sim);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(an_empty_packet_arrives_and_a_long_one_is_cut) {
    struct hc_network_sim *sim = make(hc_network_sim_config_default(), 1);
    char buffer[4] = "---";
    ck_assert_int_eq(hc_network_sim_receive(sim, 0, buffer, 4), -1);
    hc_network_sim_send(sim, 0, NULL, 0);
    hc_network_sim_send(sim, 0, "abcdef", 6);
    ck_assert_int_eq(hc_network_sim_receive(sim, 0, buffer, 4), 0);
    ck_assert_int_eq(hc_network_sim_receive(sim, 0, buffer, 2), 2);
    ck_assert_str_eq(buffer, "ab-");
    ck_assert_int_eq(hc_network_sim_receive(sim, 0, buffer, 4), -1);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(a_blackout_loses_only_the_packets_sent_during_it) {
    struct hc_network_sim_config config = {.latency_us = 500};
    struct hc_network_sim_config blackout = {
        .latency_us = 500, .loss_ppm = HC_NETWORK_SIM_PPM, .burst_mean = 3};
    struct hc_network_sim *sim = make(config, 1);
    for (uint64_t i = 0; i < 300; i++) {
        if (i % 100 == 0)
            ck_assert_int_eq(hc_network_sim_set_config(sim, i, i == 100 ? &blackout : &config),
                             HC_OK);
        hc_network_sim_send(sim, i, "x", 1);
    }
    ck_assert_uint_eq(hc_network_sim_stats(sim).lost, 100);
    ck_assert_uint_eq(hc_network_sim_in_flight(sim), 200);
    blackout.loss_ppm++;
    ck_assert_int_eq(hc_network_sim_set_config(sim, 299, &blackout), HC_INVALID);
    hc_network_sim_send(sim, 300, "x", 1);
    ck_assert_uint_eq(hc_network_sim_in_flight(sim), 201);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(a_bottleneck_exceeds_neither_its_rate_nor_its_queue) {
    enum { PACKETS = 800 };
    for (uint32_t stream = 0; stream < 40; stream++) {
        struct hc_rng rng = hc_rng_init(43, stream);
        struct hc_network_sim_config config = {.latency_us = hc_rng_below(&rng, 50000),
                                               .loss_ppm = stream % 4 == 3 ? 300000 : 0,
                                               .bytes_per_s = 500 + hc_rng_below(&rng, 200000),
                                               .queue_bytes = hc_rng_below(&rng, 10000)};
        struct hc_network_sim *sim = make(config, stream);
        uint64_t now = 0, sent_us[PACKETS], first_left = UINT64_MAX, through = 0;
        for (uint32_t i = 0; i < PACKETS; i++) {
            uint8_t bytes[1500] = {0};
            memcpy(bytes, &i, sizeof i);
            sent_us[i] = now;
            hc_network_sim_send(sim, now, bytes, 4 + hc_rng_below(&rng, 1497));
            ck_assert(i > 0 || hc_network_sim_stats(sim).dropped_queue == 0);
            now += i + 1 < PACKETS ? hc_rng_below(&rng, 30000) : UINT32_MAX;
            while (hc_network_sim_deadline(sim) <= now) {
                uint64_t due = hc_network_sim_deadline(sim), left = due - config.latency_us;
                int got = hc_network_sim_receive(sim, due, bytes, sizeof bytes);
                uint32_t which;
                memcpy(&which, bytes, sizeof which);
                // Each packet after the first takes at least the time of its bytes.
                through += first_left == UINT64_MAX ? 0 : (uint64_t)got;
                first_left = first_left == UINT64_MAX ? left : first_left;
                ck_assert_uint_le(through * 1000000, (left - first_left) * config.bytes_per_s);
                // It waits at most for a queue that is full with it, and each packet before it may
                // take up to a microsecond more by rounding.
                uint64_t most = config.queue_bytes > (uint32_t)got ? config.queue_bytes : 1500;
                ck_assert_uint_le((left - sent_us[which]) * config.bytes_per_s,
                                  most * 1000000 + (uint64_t)PACKETS * config.bytes_per_s);
            }
        }
        ck_assert_uint_gt(hc_network_sim_stats(sim).delivered, 0);
        check_counters(sim);
        hc_network_sim_destroy(sim);
    }
}
END_TEST

START_TEST(a_full_queue_drops_its_tail_and_an_empty_one_takes_any_packet) {
    struct hc_network_sim_config config = {.bytes_per_s = 1000, .queue_bytes = 250};
    struct hc_network_sim *sim = make(config, 1);
    static const uint8_t bytes[1000] = {0};
    for (int i = 0; i < 4; i++)
        hc_network_sim_send(sim, 0, bytes,
                            100); // 100 ms each; with the third 300 bytes would wait
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_queue, 2);
    ck_assert_uint_eq(hc_network_sim_deadline(sim), 100000);
    hc_network_sim_send(sim, 50000, bytes, 100); // 150 bytes wait: 100 more just fit
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_queue, 2);
    ck_assert_uint_eq(hc_network_sim_in_flight(sim), 3);
    hc_network_sim_send(sim, 300000, bytes,
                        1000); // longer than the queue, which is empty
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_queue, 2);
    config.bytes_per_s = 0;
    ck_assert_int_eq(hc_network_sim_set_config(sim, 300000, &config), HC_OK);
    hc_network_sim_send(sim, 300001, bytes, 1000); // without a limit nothing waits
    while (hc_network_sim_deadline(sim) <= 300001)
        hc_network_sim_receive(sim, 300001, NULL, 0);
    ck_assert_uint_eq(hc_network_sim_in_flight(sim), 0);
    check_counters(sim);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(a_queue_in_time_holds_what_passes_within_it) {
    struct hc_network_sim_config config = {
        .bytes_per_s = 1000, .queue_bytes = 100, .queue_us = 150000};
    struct hc_network_sim *sim = make(config, 1);
    static const uint8_t bytes[125] = {0};
    for (int i = 0; i < 3; i++)
        hc_network_sim_send(sim, 0, bytes, 125); // two are the 100 bytes and the 150 ms
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_queue, 1);
    config.bytes_per_s = 1500; // 225 bytes more
    ck_assert_int_eq(hc_network_sim_set_config(sim, 0, &config), HC_OK);
    hc_network_sim_send(sim, 0, bytes, 75);
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_queue, 1);
    hc_network_sim_send(sim, 0, bytes, 3); // rounding has made room for a byte or two
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_queue, 2);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(a_dip_holds_up_what_waits_and_its_end_lets_it_pass) {
    struct hc_network_sim_config wide = {
        .latency_us = 20000, .bytes_per_s = 10000, .queue_bytes = 5000};
    struct hc_network_sim_config dip = wide;
    struct hc_network_sim *sim = make(wide, 1);
    static const uint8_t bytes[1000] = {0};
    dip.bytes_per_s = 1000;
    for (int i = 0; i < 4; i++)
        hc_network_sim_send(sim, 0, bytes, 1000); // 100 ms each
    ck_assert_int_eq(hc_network_sim_set_config(sim, 150000, &dip), HC_OK);
    ck_assert_int_eq(hc_network_sim_receive(sim, 120000, NULL, 0), 0); // it had passed
    ck_assert_uint_eq(hc_network_sim_deadline(sim), 670000);           // half of it waited
    for (int i = 0; i < 3; i++)
        hc_network_sim_send(sim, 250000, bytes, 1000); // 2400 bytes wait, and two more have room
    ck_assert_uint_eq(hc_network_sim_stats(sim).dropped_queue, 1);
    ck_assert_int_eq(hc_network_sim_set_config(sim, 550000, &wide), HC_OK);
    for (uint64_t due = 580000; due <= 980000; due += 100000) {
        ck_assert_uint_eq(hc_network_sim_deadline(sim), due);
        ck_assert_int_eq(hc_network_sim_receive(sim, due, NULL, 0), 0);
    }
    ck_assert_uint_eq(hc_network_sim_in_flight(sim), 0);
    check_counters(sim);
    hc_network_sim_destroy(sim);
}
END_TEST

START_TEST(packets_stay_in_order_when_the_rate_changes) {
    for (uint32_t stream = 0; stream < 20; stream++) {
        struct hc_rng rng = hc_rng_init(44, stream);
        struct hc_network_sim_config config = {
            .latency_us = 60000, .jitter_us = 50000, .queue_bytes = 20000};
        struct hc_network_sim *sim = make(config, stream);
        static const uint8_t bytes[1000] = {0};
        uint64_t now = 0;
        for (uint32_t i = 0; i < 2000; i++) {
            config.bytes_per_s = i % 10 == 0 ? hc_rng_below(&rng, 200000) : config.bytes_per_s;
            ck_assert_int_eq(hc_network_sim_set_config(sim, now, &config), HC_OK);
            hc_network_sim_send(sim, now, bytes, hc_rng_below(&rng, 1000));
            uint64_t next = now + hc_rng_below(&rng, 20000), before = now;
            for (uint64_t due; (due = hc_network_sim_deadline(sim)) <= next; before = due) {
                ck_assert_uint_ge(due, before);
                ck_assert_int_eq(hc_network_sim_receive(sim, due, NULL, 0), 0);
            }
            now = next;
        }
        check_counters(sim);
        hc_network_sim_destroy(sim);
    }
}
END_TEST

START_TEST(presets_have_names_and_valid_conditions) {
    static const char *const names[] = {"good", "ok", "bad", "awful"};
    static const uint32_t latency_ms[] = {20, 50, 80, 150}, jitter_ms[] = {2, 10, 20, 50};
    static const uint32_t loss_percent[] = {0, 1, 5, 20};
    for (int i = 0; i < 4; i++) {
        struct hc_network_sim_config config;
        ck_assert(hc_network_sim_preset(names[i], &config));
        ck_assert_uint_eq(config.latency_us, latency_ms[i] * 1000);
        ck_assert_uint_eq(config.jitter_us, jitter_ms[i] * 1000);
        ck_assert_uint_eq(config.loss_ppm, loss_percent[i] * 10000);
        ck_assert_uint_eq(config.burst_mean, i == 3 ? 3 : 0);
        ck_assert_ptr_null(hc_network_sim_config_check(&config));
    }
    struct hc_network_sim_config unchanged = {.latency_us = 77};
    ck_assert(!hc_network_sim_preset("goo", &unchanged) && !hc_network_sim_preset("", &unchanged));
    ck_assert_uint_eq(unchanged.latency_us, 77);
}
END_TEST

START_TEST(conditions_out_of_range_are_named_and_refused) {
    static const struct {
        const char *field;
        struct hc_network_sim_config config;
    } bad[] = {
        {"latency_us", {.latency_us = HC_NETWORK_SIM_DELAY_US_MAX + 1}},
        {"jitter_us", {.jitter_us = HC_NETWORK_SIM_DELAY_US_MAX + 1}},
        {"loss_ppm", {.loss_ppm = HC_NETWORK_SIM_PPM + 1}},
        {"burst_mean", {.burst_mean = HC_NETWORK_SIM_BURST_MAX + 1}},
        {"duplicate_ppm", {.duplicate_ppm = HC_NETWORK_SIM_PPM + 1}},
        {"reorder_ppm", {.reorder_ppm = HC_NETWORK_SIM_PPM + 1}},
        {"queue_us", {.queue_us = HC_NETWORK_SIM_DELAY_US_MAX + 1}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_str_eq(hc_network_sim_config_check(&bad[i].config), bad[i].field);
        ck_assert_ptr_null(hc_network_sim_create(&bad[i].config, 1, 10, NULL));
    }
    struct hc_network_sim_config config = hc_network_sim_config_default();
    ck_assert_ptr_null(hc_network_sim_create(&config, 1, 0, NULL));
    ck_assert_ptr_null(hc_network_sim_create(&config, 1, HC_NETWORK_SIM_PACKETS_MAX + 1, NULL));
    hc_network_sim_destroy(NULL);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("network_sim");
    TCase *tests = tcase_create("network_sim");
    tcase_add_test(tests, packets_arrive_whole_in_order_of_due_time_and_of_sending);
    tcase_add_test(tests, packets_due_together_arrive_in_the_order_of_sending);
    tcase_add_test(tests, one_seed_gives_one_sequence_of_arrivals);
    tcase_add_test(tests, losses_are_as_frequent_and_bursts_as_long_as_configured);
    tcase_add_test(tests, a_loss_too_high_for_short_bursts_makes_them_longer);
    tcase_add_test(tests, copies_and_reordered_packets_are_as_frequent_as_configured);
    tcase_add_test(tests, a_full_simulation_drops_and_counts_the_newest_packet);
    tcase_add_test(tests, an_empty_packet_arrives_and_a_long_one_is_cut);
    tcase_add_test(tests, a_blackout_loses_only_the_packets_sent_during_it);
    tcase_add_test(tests, a_bottleneck_exceeds_neither_its_rate_nor_its_queue);
    tcase_add_test(tests, a_full_queue_drops_its_tail_and_an_empty_one_takes_any_packet);
    tcase_add_test(tests, a_queue_in_time_holds_what_passes_within_it);
    tcase_add_test(tests, a_dip_holds_up_what_waits_and_its_end_lets_it_pass);
    tcase_add_test(tests, packets_stay_in_order_when_the_rate_changes);
    tcase_add_test(tests, presets_have_names_and_valid_conditions);
    tcase_add_test(tests, conditions_out_of_range_are_named_and_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
