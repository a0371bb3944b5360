/// Tests server/daemon/owner_file and background: the event loop runs while a file is read.
#define _GNU_SOURCE

#include "common/programs/clock.h"
#include "server/daemon/background.h"
#include "server/daemon/owner_file.h"
#include "tests/run_suite.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 20 };

/// A file system that answers a reading when the test allows it.
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned answered, begun;
    bool good;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/// Parses when the file system answers; the value is the number of the reading.
static bool parse_slowly(const struct hc_sv_owner_file *file, void *out, char *why,
                         size_t why_size) {
    pthread_mutex_lock(&disk.mutex);
    unsigned number = ++disk.begun;
    while (disk.answered < number)
        pthread_cond_wait(&disk.changed, &disk.mutex);
    bool good = disk.good;
    pthread_mutex_unlock(&disk.mutex);
    *(unsigned *)out = number;
    snprintf(why, why_size, "%s cannot be read", file->path);
    return good;
}

static const struct hc_sv_owner_file_kind slow = {
    .option = "--slow", .size = sizeof(unsigned), .parse = parse_slowly};

static void answer_one(bool good) {
    pthread_mutex_lock(&disk.mutex);
    disk.answered++;
    disk.good = good;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.mutex);
}

/// Counts of the calls back.
struct calls {
    unsigned read, refused, slow, number, turns, turns_wanted;
    struct event_base *base;
};

static void done(void *context, enum hc_sv_background_status status, const void *out,
                 const char *why) {
    struct calls *calls = context;
    calls->read += status == HC_SV_BACKGROUND_DONE;
    calls->refused += status == HC_SV_BACKGROUND_FAILED;
    calls->slow += status == HC_SV_BACKGROUND_SLOW;
    if (status == HC_SV_BACKGROUND_DONE)
        calls->number = *(const unsigned *)out;
    else
        ck_assert_ptr_null(out);
    if (status == HC_SV_BACKGROUND_FAILED)
        ck_assert_str_eq(why, "LICENSE cannot be read");
    else
        ck_assert_ptr_null(why);
    event_base_loopbreak(calls->base);
}

static void turn(evutil_socket_t descriptor, short events, void *context) {
    struct calls *calls = context;
    (void)descriptor;
    (void)events;
    if (++calls->turns >= calls->turns_wanted)
        event_base_loopbreak(calls->base);
}

/// Runs the loop for this many turns of a timer.
static void take_turns(struct calls *calls, unsigned turns) {
    struct timeval soon = {.tv_usec = 1000};
    struct event *timer = event_new(calls->base, -1, EV_PERSIST, turn, calls);
    calls->turns_wanted = calls->turns + turns;
    event_add(timer, &soon);
    while (calls->turns < calls->turns_wanted)
        event_base_dispatch(calls->base);
    event_free(timer);
}

static struct hc_sv_background *open_reader(struct calls *calls, unsigned slow_ms) {
    static const struct hc_sv_owner_file_order order = {.kind = &slow, .path = "LICENSE"};
    static const struct hc_sv_background_work work = {.run = hc_sv_owner_file_run,
                                                      .order = &order,
                                                      .order_size = sizeof order,
                                                      .out_size = sizeof(unsigned)};
    pthread_mutex_lock(&disk.mutex);
    disk.answered = disk.begun = 0;
    pthread_mutex_unlock(&disk.mutex);
    *calls = (struct calls){.base = event_base_new()};
    ck_assert_ptr_nonnull(calls->base);
    struct hc_sv_background *reader =
        hc_sv_background_open(calls->base, &work, slow_ms, done, calls);
    ck_assert_ptr_nonnull(reader);
    return reader;
}

static void close_reader(struct hc_sv_background *reader, struct calls *calls) {
    hc_sv_background_close(reader);
    event_base_free(calls->base);
}

START_TEST(loop_runs_while_the_file_system_hangs) {
    struct calls calls;
    struct hc_sv_background *reader = open_reader(&calls, 60000);
    hc_sv_background_start(reader);
    take_turns(&calls, TURNS);
    ck_assert(calls.read == 0 && calls.refused == 0 && calls.slow == 0);
    answer_one(true);
    while (calls.read + calls.refused == 0)
        event_base_dispatch(calls.base);
    ck_assert(calls.read == 1 && calls.number == 1);
    hc_sv_background_start(reader);
    answer_one(false);
    while (calls.read + calls.refused == 1)
        event_base_dispatch(calls.base);
    ck_assert(calls.read == 1 && calls.refused == 1 && calls.slow == 0);
    close_reader(reader, &calls);
}
END_TEST

START_TEST(slow_reading_is_reported_once_and_counts_when_it_ends) {
    struct calls calls;
    struct hc_sv_background *reader = open_reader(&calls, 5);
    hc_sv_background_start(reader);
    while (calls.slow == 0)
        event_base_dispatch(calls.base);
    take_turns(&calls, TURNS);
    ck_assert(calls.slow == 1 && calls.read == 0);
    answer_one(true);
    while (calls.read == 0)
        event_base_dispatch(calls.base);
    close_reader(reader, &calls);
}
END_TEST

START_TEST(starts_during_a_reading_cause_one_more_reading) {
    struct calls calls;
    struct hc_sv_background *reader = open_reader(&calls, 60000);
    for (unsigned i = 0; i < 5; i++)
        hc_sv_background_start(reader);
    answer_one(true);
    answer_one(true);
    while (calls.read < 2)
        event_base_dispatch(calls.base);
    take_turns(&calls, TURNS);
    ck_assert(calls.read == 2 && calls.number == 2);
    close_reader(reader, &calls);
}
END_TEST

START_TEST(reading_that_outlives_its_reader_calls_nothing) {
    struct calls calls;
    struct hc_sv_background *reader = open_reader(&calls, 60000);
    hc_sv_background_start(reader);
    take_turns(&calls, TURNS);
    close_reader(reader, &calls);
    answer_one(true);
    ck_assert(calls.read == 0 && calls.refused == 0);
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

/// Reads a new file with these bytes; returns "" or the fault.
static const char *read_bytes(const char *bytes, size_t size, char *out) {
    static char why[256];
    char path[] = "/tmp/hc_owner_file_XXXXXX", *name;
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

START_TEST(file_is_read_as_a_whole_or_refused_with_a_sentence) {
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

static const struct hc_sv_owner_file_kind piped = {
    .option = "--piped", .size = sizeof(char), .pipes = true, .parse = parse_good};

/// Writes to a pipe in pieces, and closes it.
static void *write_slowly(void *context) {
    const int *end = context;
    for (const char *at = "good text"; *at != '\0'; at++) {
        hc_clock_sleep(2000);
        ck_assert_int_eq(write(*end, at, 1), 1);
    }
    close(*end);
    return NULL;
}

START_TEST(pipe_is_read_to_its_end_and_once) {
    char path[32], out = 0, why[256];
    for (unsigned waits = 0; waits < 2; waits++) {
        int ends[2];
        pthread_t writer;
        ck_assert_int_eq(pipe(ends), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        if (waits == 0) { // all is written, and the writer has gone
            ck_assert_int_eq(write(ends[1], "good", 4), 4);
            close(ends[1]);
        } else
            ck_assert_int_eq(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
        ck_assert_msg(hc_sv_owner_file_read(&piped, path, &out, why, sizeof why), "%s", why);
        ck_assert(out == 'g');
        if (waits != 0)
            pthread_join(writer, NULL);
        struct hc_sv_owner_file_order order = {.kind = &piped, .again = true};
        snprintf(order.path, sizeof order.path, "%s", path);
        ck_assert_msg(hc_sv_owner_file_run(&order, &out, why, sizeof why), "%s", why);
        ck_assert_msg(out == 0, "the result of a pipe that was read before is all zeros");
        ck_assert(!hc_sv_owner_file_read(&good, path, &out, why, sizeof why));
        ck_assert_ptr_nonnull(strstr(why, "is no regular file"));
        close(ends[0]);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server owner file");
    TCase *tests = tcase_create("owner file");
    tcase_add_test(tests, file_is_read_as_a_whole_or_refused_with_a_sentence);
    tcase_add_test(tests, loop_runs_while_the_file_system_hangs);
    tcase_add_test(tests, slow_reading_is_reported_once_and_counts_when_it_ends);
    tcase_add_test(tests, starts_during_a_reading_cause_one_more_reading);
    tcase_add_test(tests, reading_that_outlives_its_reader_calls_nothing);
    tcase_add_test(tests, pipe_is_read_to_its_end_and_once);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
