/// Neither side allocates or frees memory while it plays.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define HOOKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOOKED 1
#endif
#endif
#ifndef HOOKED
#define HOOKED 0
#endif

/// Every call of the cores and of the test. Volatile, because the compiler assumes that an
/// allocation changes no variable of the program.
static volatile uint64_t calls;

#if HOOKED
// The sanitizer's own allocator calls these hooks.
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *block, size_t bytes) {
    (void)block, (void)bytes;
    calls++;
}

static void on_free(const volatile void *block) {
    (void)block;
    calls++;
}
#else
// The linker directs the calls of this program here: --wrap works with every C library.
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void __wrap_free(void *block);

void *__wrap_malloc(size_t bytes) {
    calls++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    calls++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes) {
    calls++;
    return __real_realloc(block, bytes);
}

void __wrap_free(void *block) {
    calls++;
    __real_free(block);
}
#endif

START_TEST(the_counter_counts_allocations) {
    uint64_t before = calls;
    void *volatile block = malloc(100);
    free(block);
    ck_assert_uint_eq(calls - before, 2);
}
END_TEST

START_TEST(no_memory_is_allocated_or_freed_after_all_have_joined) {
    enum { CLIENTS = 8 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 80, 151);
    config.up = config.down = hc_sim_link(80, 15);
    config.up.jitter_us = config.down.jitter_us = 40 * MS_US;
    config.up.duplicate_ppm = config.down.duplicate_ppm = 100000;
    config.client.display_offset = 12;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    uint64_t before = calls;
    hc_sim_run(scenario->sim, 10 * SECOND_US);
    uint64_t during = calls - before;
    const struct hc_server_stats *host = hc_server_stats(hc_sim_host(scenario->sim));
    const struct hc_client_stats *client = hc_client_stats(hc_sim_client(scenario->sim, 0));
    printf("memory: a host of %d clients %" PRIu64 " bytes, a client %" PRIu64 " bytes\n", CLIENTS,
           host->memory_bytes, client->memory_bytes);
    ck_assert_uint_eq(during, 0);
    ck_assert_uint_gt(host->rewind_depth.count, 0);
    ck_assert_uint_gt(host->corrections, 0);
    ck_assert_uint_gt(client->rollbacks, 0);
    ck_assert_uint_gt(host->memory_bytes, 0);
    ck_assert_uint_lt(host->memory_bytes, 64u << 20);
    ck_assert_uint_gt(client->memory_bytes, 0);
    ck_assert_uint_lt(client->memory_bytes, 16u << 20);
    scenario_destroy(scenario);
}
END_TEST

/// Memory that was obtained, and not yet released, through a struct hc_allocator.
struct allocated {
    int64_t bytes;
    uint64_t blocks;
};

static void *count_allocate(void *context, size_t bytes) {
    struct allocated *allocated = context;
    size_t *block = calloc(1, bytes + 16);
    ck_assert_ptr_nonnull(block);
    *block = bytes;
    allocated->bytes += (int64_t)bytes;
    allocated->blocks++;
    return (uint8_t *)block + 16;
}

static void count_release(void *context, void *block) {
    struct allocated *allocated = context;
    if (block == NULL)
        return;
    size_t *start = (size_t *)(void *)((uint8_t *)block - 16);
    allocated->bytes -= (int64_t)*start;
    free(start);
}

START_TEST(the_reported_memory_is_the_obtained_memory_and_all_is_released) {
    struct allocated host_allocated = {0}, client_allocated = {0};
    struct hc_allocator host_allocator = {count_allocate, count_release, &host_allocated};
    struct hc_allocator client_allocator = {count_allocate, count_release, &client_allocated};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 30, 152);
    config.host.allocator = &host_allocator;
    config.client.allocator = &client_allocator;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    int64_t host = (int64_t)hc_server_stats(hc_sim_host(scenario->sim))->memory_bytes;
    int64_t client = (int64_t)hc_client_stats(hc_sim_client(scenario->sim, 0))->memory_bytes;
    printf("host: %ld stated, %ld obtained; client: %ld stated, %ld obtained\n", (long)host,
           (long)host_allocated.bytes, (long)client, (long)client_allocated.bytes);
    ck_assert_uint_gt(host_allocated.blocks, 0);
    ck_assert_uint_gt(client_allocated.blocks, 0);
    // A few odd kilobytes, such as a world's tables, do not matter.
    ck_assert_int_lt(llabs(host - host_allocated.bytes), 4096);
    ck_assert_int_lt(llabs(client - client_allocated.bytes), 4096);
    scenario_destroy(scenario);
    ck_assert_int_eq(host_allocated.bytes, 0);
    ck_assert_int_eq(client_allocated.bytes, 0);
}
END_TEST

int main(void) {
#if HOOKED
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif
    Suite *suite = suite_create("allocation");
    TCase *tests = tcase_create("allocation");
    tcase_add_test(tests, the_counter_counts_allocations);
    tcase_add_test(tests, no_memory_is_allocated_or_freed_after_all_have_joined);
    tcase_add_test(tests, the_reported_memory_is_the_obtained_memory_and_all_is_released);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
