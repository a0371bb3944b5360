/// Neither side asks for memory, or gives any back, while it plays.
#include "tests/scenario/play.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

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

/// Every call of the process, also of the libraries'.
/// Volatile: the compiler believes that an allocation changes nothing of ours.
static volatile uint64_t calls;

#if HOOKED
// The sanitizer has an allocator of its own, which tells whoever asks.
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
// glibc lets a program put its own in front; these names are those behind it.
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void *malloc(size_t bytes) {
    calls++;
    return __libc_malloc(bytes);
}

EXPORTED void *calloc(size_t count, size_t bytes) {
    calls++;
    return __libc_calloc(count, bytes);
}

EXPORTED void *realloc(void *block, size_t bytes) {
    calls++;
    return __libc_realloc(block, bytes);
}

EXPORTED void free(void *block) {
    calls++;
    __libc_free(block);
}
#endif

START_TEST(the_counter_counts) {
    uint64_t before = calls;
    void *volatile block = malloc(100);
    free(block);
    ck_assert_uint_eq(calls - before, 2);
}
END_TEST

START_TEST(nothing_is_allocated_or_freed_once_all_have_joined) {
    enum { CLIENTS = 8 };
    struct hc_sim_config config = play_config(&hc_arena, CLIENTS, 80, 151);
    config.up = config.down = play_link(80, 15);
    config.up.jitter_us = config.down.jitter_us = 40 * PLAY_MS;
    config.up.duplicate_ppm = config.down.duplicate_ppm = 100000;
    config.client.display_offset = 12;
    struct play *play = play_create(&config);
    play_join_all(play);
    uint64_t before = calls;
    hc_sim_run(play->sim, 10 * PLAY_S);
    uint64_t during = calls - before;
    const struct hc_sv_host_stats *host = hc_sv_host_stats(hc_sim_host(play->sim));
    const struct hc_client_stats *client = hc_client_stats(hc_sim_client(play->sim, 0));
    printf("memory: a host of %d clients %zu bytes, a client %zu bytes\n", CLIENTS,
           host->memory_bytes, client->memory_bytes);
    ck_assert_uint_eq(during, 0);
    ck_assert_uint_gt(host->rewind_depth.count, 0);
    ck_assert_uint_gt(host->corrections, 0);
    ck_assert_uint_gt(client->rollbacks, 0);
    ck_assert_uint_gt(host->memory_bytes, 0);
    ck_assert_uint_lt(host->memory_bytes, 64u << 20);
    ck_assert_uint_gt(client->memory_bytes, 0);
    ck_assert_uint_lt(client->memory_bytes, 16u << 20);
    play_destroy(play);
}
END_TEST

/// Obtained and not yet released through a struct hc_allocator.
struct purse {
    int64_t bytes;
    uint64_t blocks;
};

static void *purse_allocate(void *context, size_t bytes) {
    struct purse *purse = context;
    size_t *block = calloc(1, bytes + 16);
    ck_assert_ptr_nonnull(block);
    *block = bytes;
    purse->bytes += (int64_t)bytes;
    purse->blocks++;
    return (uint8_t *)block + 16;
}

static void purse_release(void *context, void *block) {
    struct purse *purse = context;
    if (block == NULL)
        return;
    size_t *start = (size_t *)(void *)((uint8_t *)block - 16);
    purse->bytes -= (int64_t)*start;
    free(start);
}

START_TEST(the_memory_stated_is_the_memory_obtained_and_all_of_it_comes_back) {
    struct purse host_purse = {0}, client_purse = {0};
    struct hc_allocator host_allocator = {purse_allocate, purse_release, &host_purse};
    struct hc_allocator client_allocator = {purse_allocate, purse_release, &client_purse};
    struct hc_sim_config config = play_config(&hc_arena, 1, 30, 152);
    config.host.allocator = &host_allocator;
    config.client.allocator = &client_allocator;
    struct play *play = play_create(&config);
    play_join_all(play);
    int64_t host = (int64_t)hc_sv_host_stats(hc_sim_host(play->sim))->memory_bytes;
    int64_t client = (int64_t)hc_client_stats(hc_sim_client(play->sim, 0))->memory_bytes;
    printf("host: %ld stated, %ld obtained; client: %ld stated, %ld obtained\n", (long)host,
           (long)host_purse.bytes, (long)client, (long)client_purse.bytes);
    ck_assert_uint_gt(host_purse.blocks, 0);
    ck_assert_uint_gt(client_purse.blocks, 0);
    // A few odd kilobytes, such as a world's tables, do not matter.
    ck_assert_int_lt(llabs(host - host_purse.bytes), 4096);
    ck_assert_int_lt(llabs(client - client_purse.bytes), 4096);
    play_destroy(play);
    ck_assert_int_eq(host_purse.bytes, 0);
    ck_assert_int_eq(client_purse.bytes, 0);
}
END_TEST

int main(void) {
#if HOOKED
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif
    Suite *suite = suite_create("allocation");
    TCase *tests = tcase_create("allocation");
    tcase_add_test(tests, the_counter_counts);
    tcase_add_test(tests, nothing_is_allocated_or_freed_once_all_have_joined);
    tcase_add_test(tests, the_memory_stated_is_the_memory_obtained_and_all_of_it_comes_back);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
