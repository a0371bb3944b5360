// A file is read beside the event loop.
#define _GNU_SOURCE

#include "server/daemon/owner_file.h"
#include "tests/run_suite.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 20 };

/// A file system that answers when it is let.
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned let, begun;
    bool good;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/// Takes as long as the file system; finds out how often it was read.
static bool parse_slowly(const struct hc_sv_owner_file *file, void *out, char *why,
                         size_t why_size) {
    pthread_mutex_lock(&disk.mutex);
    unsigned number = ++disk.begun;
    while (disk.let < number)
        pthread_cond_wait(&disk.changed, &disk.mutex);
    bool good = disk.good;
    pthread_mutex_unlock(&disk.mutex);
    *(unsigned *)out = number;
    snprintf(why, why_size, "%s cannot be read", file->path);
    return good;
}

static const struct hc_sv_owner_file_kind slow = {
    .option = "--slow", .size = sizeof(unsigned), .parse = parse_slowly};

static void let_one(bool good) {
    pthread_mutex_lock(&disk.mutex);
    disk.let++;
    disk.good = good;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.mutex);
}

/// What was called back.
struct seen {
    unsigned read, refused, slow, number, turns, turns_wanted;
    struct event_base *base;
};

static void done(void *context, enum hc_sv_owner_file_status status, const void *out,
                 const char *why) {
    struct seen *seen = context;
    seen->read += status == HC_SV_OWNER_FILE_READ;
    seen->refused += status == HC_SV_OWNER_FILE_REFUSED;
    seen->slow += status == HC_SV_OWNER_FILE_SLOW;
    if (status == HC_SV_OWNER_FILE_READ)
        seen->number = *(const unsigned *)out;
    else
        ck_assert_ptr_null(out);
    if (status == HC_SV_OWNER_FILE_REFUSED)
        ck_assert_str_eq(why, "LICENSE cannot be read");
    else
        ck_assert_ptr_null(why);
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

static struct hc_sv_owner_file_reader *open_reader(struct seen *seen, unsigned slow_ms) {
    pthread_mutex_lock(&disk.mutex);
    disk.let = disk.begun = 0;
    pthread_mutex_unlock(&disk.mutex);
    *seen = (struct seen){.base = event_base_new()};
    ck_assert_ptr_nonnull(seen->base);
    struct hc_sv_owner_file_reader *reader =
        hc_sv_owner_file_reader_open(seen->base, &slow, "LICENSE", slow_ms, done, seen);
    ck_assert_ptr_nonnull(reader);
    return reader;
}

static void close_reader(struct hc_sv_owner_file_reader *reader, struct seen *seen) {
    hc_sv_owner_file_reader_close(reader);
    event_base_free(seen->base);
}

START_TEST(the_loop_turns_while_the_file_system_does_not_answer) {
    struct seen seen;
    struct hc_sv_owner_file_reader *reader = open_reader(&seen, 60000);
    hc_sv_owner_file_reader_start(reader);
    take_turns(&seen, TURNS);
    ck_assert(seen.read == 0 && seen.refused == 0 && seen.slow == 0);
    let_one(true);
    while (seen.read + seen.refused == 0)
        event_base_dispatch(seen.base);
    ck_assert(seen.read == 1 && seen.number == 1);
    hc_sv_owner_file_reader_start(reader);
    let_one(false);
    while (seen.read + seen.refused == 1)
        event_base_dispatch(seen.base);
    ck_assert(seen.read == 1 && seen.refused == 1 && seen.slow == 0);
    close_reader(reader, &seen);
}
END_TEST

START_TEST(a_slow_reading_is_named_once_and_counts_when_it_ends) {
    struct seen seen;
    struct hc_sv_owner_file_reader *reader = open_reader(&seen, 5);
    hc_sv_owner_file_reader_start(reader);
    while (seen.slow == 0)
        event_base_dispatch(seen.base);
    take_turns(&seen, TURNS);
    ck_assert(seen.slow == 1 && seen.read == 0);
    let_one(true);
    while (seen.read == 0)
        event_base_dispatch(seen.base);
    close_reader(reader, &seen);
}
END_TEST

START_TEST(starts_during_a_reading_make_one_more_after_it) {
    struct seen seen;
    struct hc_sv_owner_file_reader *reader = open_reader(&seen, 60000);
    for (unsigned i = 0; i < 5; i++)
        hc_sv_owner_file_reader_start(reader);
    let_one(true);
    let_one(true);
    while (seen.read < 2)
        event_base_dispatch(seen.base);
    take_turns(&seen, TURNS);
    ck_assert(seen.read == 2 && seen.number == 2);
    close_reader(reader, &seen);
}
END_TEST

START_TEST(a_reading_that_outlives_the_loop_ends_unheard) {
    struct seen seen;
    struct hc_sv_owner_file_reader *reader = open_reader(&seen, 60000);
    hc_sv_owner_file_reader_start(reader);
    take_turns(&seen, TURNS);
    close_reader(reader, &seen);
    let_one(true);
    ck_assert(seen.read == 0 && seen.refused == 0);
}
END_TEST

/// A kind whose text must begin with "good".
static bool parse_good(const struct hc_sv_owner_file *file, void *out, char *why, size_t why_size) {
    *(char *)out = file->text[0];
    snprintf(why, why_size, "'%s' is not good", file->path);
    return strncmp(file->text, "good", 4) == 0;
}

static const struct hc_sv_owner_file_kind good = {
    .option = "--good", .size = sizeof(char), .parse = parse_good};

/// A file of its own with these bytes is read, or not: "" or why.
static const char *read_bytes(const char *bytes, size_t size, char *out) {
    static char why[256];
    char path[] = "/tmp/hc_admin_file_XXXXXX", *name;
    int descriptor = mkstemp(path);
    ck_assert(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size);
    close(descriptor);
    bool read = hc_sv_owner_file_read(&good, path, out, why, sizeof why);
    unlink(path);
    if (read)
        return "";
    ck_assert(*out == 0);
    name = strstr(why, path);
    ck_assert_ptr_nonnull(name);
    return name + strlen(path);
}

START_TEST(a_file_is_read_as_a_whole_or_refused_with_a_sentence) {
    char *large = malloc(HC_SV_OWNER_FILE_MAX + 1), out, why[256];
    memset(large, ' ', HC_SV_OWNER_FILE_MAX + 1);
    memcpy(large, "good", 4);
    ck_assert_str_eq(read_bytes(large, 4, &out), "");
    ck_assert(out == 'g');
    ck_assert_str_eq(read_bytes(large, HC_SV_OWNER_FILE_MAX, &out), "");
    ck_assert_str_eq(read_bytes(large, HC_SV_OWNER_FILE_MAX + 1, &out), "': is larger than 4 MiB");
    ck_assert_str_eq(read_bytes("good\0", 5, &out), "': is no text");
    ck_assert_str_eq(read_bytes("bad", 3, &out), "' is not good");
    ck_assert_str_eq(read_bytes("", 0, &out), "' is not good");
    ck_assert(!hc_sv_owner_file_read(&good, "/tmp", &out, why, sizeof why));
    ck_assert_str_eq(why, "--good '/tmp': is no regular file");
    ck_assert(!hc_sv_owner_file_read(&good, "/nowhere", &out, why, sizeof why));
    ck_assert_str_eq(why, "--good '/nowhere': No such file or directory");
    free(large);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server admin file");
    TCase *tests = tcase_create("admin file");
    tcase_add_test(tests, a_file_is_read_as_a_whole_or_refused_with_a_sentence);
    tcase_add_test(tests, the_loop_turns_while_the_file_system_does_not_answer);
    tcase_add_test(tests, a_slow_reading_is_named_once_and_counts_when_it_ends);
    tcase_add_test(tests, starts_during_a_reading_make_one_more_after_it);
    tcase_add_test(tests, a_reading_that_outlives_the_loop_ends_unheard);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
