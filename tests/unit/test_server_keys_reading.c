// The key file is read beside the event loop.
#define _GNU_SOURCE

#include "server/admin_keys_reading.h"
#include "tests/run_suite.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { TURNS = 20 };

/// A file system that answers when it is let.
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned let, begun;
    bool good;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool read_slowly(const char *path, struct hc_token_ring *ring, char *why, size_t why_size) {
    pthread_mutex_lock(&disk.mutex);
    unsigned number = ++disk.begun;
    while (disk.let < number)
        pthread_cond_wait(&disk.changed, &disk.mutex);
    bool good = disk.good;
    pthread_mutex_unlock(&disk.mutex);
    *ring = (struct hc_token_ring){.count = 1, .keys[0].id = (uint8_t)number};
    snprintf(why, why_size, "%s cannot be read", path);
    return good;
}

static void let_one(bool good) {
    pthread_mutex_lock(&disk.mutex);
    disk.let++;
    disk.good = good;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.mutex);
}

/// What was called back.
struct seen {
    unsigned read, refused, slow, key, turns, turns_wanted;
    struct event_base *base;
};

static void done(void *context, enum hc_sv_admin_keys_status status,
                 const struct hc_token_ring *keys, const char *why) {
    struct seen *seen = context;
    seen->read += status == HC_SV_ADMIN_KEYS_READ;
    seen->refused += status == HC_SV_ADMIN_KEYS_REFUSED;
    seen->slow += status == HC_SV_ADMIN_KEYS_SLOW;
    if (status == HC_SV_ADMIN_KEYS_READ)
        seen->key = keys->keys[0].id;
    else
        ck_assert_ptr_null(keys);
    if (status == HC_SV_ADMIN_KEYS_REFUSED)
        ck_assert_str_eq(why, "file cannot be read");
    event_base_loopbreak(seen->base);
}

static void turn(evutil_socket_t descriptor, short what, void *context) {
    struct seen *seen = context;
    (void)descriptor;
    (void)what;
    if (++seen->turns >= seen->turns_wanted)
        event_base_loopbreak(seen->base);
}

/// So many turns of a timer's, whatever is read.
static void take_turns(struct seen *seen, unsigned turns) {
    struct timeval soon = {.tv_usec = 1000};
    struct event *timer = event_new(seen->base, -1, EV_PERSIST, turn, seen);
    seen->turns_wanted = seen->turns + turns;
    event_add(timer, &soon);
    while (seen->turns < seen->turns_wanted)
        event_base_dispatch(seen->base);
    event_free(timer);
}

static struct hc_sv_admin_keys_reading *open_reading(struct seen *seen, unsigned slow_ms) {
    pthread_mutex_lock(&disk.mutex);
    disk.let = disk.begun = 0;
    pthread_mutex_unlock(&disk.mutex);
    *seen = (struct seen){.base = event_base_new()};
    ck_assert_ptr_nonnull(seen->base);
    struct hc_sv_admin_keys_reading *reading =
        hc_sv_admin_keys_reading_open(seen->base, "file", read_slowly, slow_ms, done, seen);
    ck_assert_ptr_nonnull(reading);
    return reading;
}

static void close_reading(struct hc_sv_admin_keys_reading *reading, struct seen *seen) {
    hc_sv_admin_keys_reading_close(reading);
    event_base_free(seen->base);
}

START_TEST(the_loop_turns_while_the_file_system_does_not_answer) {
    struct seen seen;
    struct hc_sv_admin_keys_reading *reading = open_reading(&seen, 60000);
    ck_assert(hc_sv_admin_keys_reading_start(reading));
    take_turns(&seen, TURNS);
    ck_assert(seen.read == 0 && seen.refused == 0 && seen.slow == 0);
    let_one(true);
    while (seen.read + seen.refused == 0)
        event_base_dispatch(seen.base);
    ck_assert(seen.read == 1 && seen.key == 1);
    ck_assert(hc_sv_admin_keys_reading_start(reading));
    let_one(false);
    while (seen.read + seen.refused == 1)
        event_base_dispatch(seen.base);
    ck_assert(seen.read == 1 && seen.refused == 1 && seen.slow == 0);
    close_reading(reading, &seen);
}
END_TEST

START_TEST(a_slow_reading_is_named_once_and_counts_when_it_ends) {
    struct seen seen;
    struct hc_sv_admin_keys_reading *reading = open_reading(&seen, 5);
    ck_assert(hc_sv_admin_keys_reading_start(reading));
    while (seen.slow == 0)
        event_base_dispatch(seen.base);
    take_turns(&seen, TURNS);
    ck_assert(seen.slow == 1 && seen.read == 0);
    let_one(true);
    while (seen.read == 0)
        event_base_dispatch(seen.base);
    close_reading(reading, &seen);
}
END_TEST

START_TEST(starts_during_a_reading_make_one_more_after_it) {
    struct seen seen;
    struct hc_sv_admin_keys_reading *reading = open_reading(&seen, 60000);
    for (unsigned i = 0; i < 5; i++)
        ck_assert(hc_sv_admin_keys_reading_start(reading));
    let_one(true);
    let_one(true);
    while (seen.read < 2)
        event_base_dispatch(seen.base);
    take_turns(&seen, TURNS);
    ck_assert(seen.read == 2 && seen.key == 2);
    close_reading(reading, &seen);
}
END_TEST

START_TEST(a_reading_that_outlives_the_loop_ends_unheard) {
    struct seen seen;
    struct hc_sv_admin_keys_reading *reading = open_reading(&seen, 60000);
    ck_assert(hc_sv_admin_keys_reading_start(reading));
    take_turns(&seen, TURNS);
    close_reading(reading, &seen);
    let_one(true);
    ck_assert(seen.read == 0 && seen.refused == 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server keys reading");
    TCase *tests = tcase_create("keys reading");
    tcase_add_test(tests, the_loop_turns_while_the_file_system_does_not_answer);
    tcase_add_test(tests, a_slow_reading_is_named_once_and_counts_when_it_ends);
    tcase_add_test(tests, starts_during_a_reading_make_one_more_after_it);
    tcase_add_test(tests, a_reading_that_outlives_the_loop_ends_unheard);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
