/// Owns the handlers of crashes.
#define _GNU_SOURCE

#include "common/programs/crash.h"

#include "common/programs/backtrace.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK = 128 << 10, ///< bytes for the handlers
    LINE_S = 5,        ///< the search for the line may take so long
    LOOK_MS = 10,      ///< the search is looked at so often
    WORDS = 2048,      ///< bytes of the last words
    FACTS = 512,       ///< bytes of the facts in them
};

static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGSEGV, "a read or write outside of memory"},
               {SIGBUS, "a read or write outside of a file or across a boundary"},
               {SIGFPE, "a division by zero or too large a quotient"},
               {SIGILL, "an instruction that the processor does not know"},
               {SIGABRT, "an assertion, or the C library"}};
enum { CRASHES = sizeof(crashes) / sizeof(*crashes) };

/// A signal handler has no other argument than its number.
static struct {
    const char *program, *begin;
    const void *game_file;
    bool json;
    unsigned (*describe)(struct hc_crash_fact facts[static HC_CRASH_FACTS_MAX]); ///< NULL: nothing
    void (*end)(void);                                                           ///< NULL: nothing
    atomic_flag begun;
    pthread_t thread; ///< the thread that crashed first, once it has `begun`
    int number;       ///< its signal
    const void *place;
    char facts[FACTS];
    volatile sig_atomic_t ends; ///< end() runs or has run, and nothing is said yet
} crash = {.begun = ATOMIC_FLAG_INIT};

static void on_crash(int number);

/// The innermost place in the game's plugin; without one, in this program, and of all. A failed
/// assertion calls hc_check_failed, whose caller is meant.
static const void *find_place(int number) {
    const void *places[HC_PLACES_MAX];
    const void *own = hc_place_file(hc_place_of((void (*)(void))on_crash));
    unsigned count = hc_backtrace(places), skips = number == SIGABRT;
    for (unsigned i = 0; i < count && crash.game_file != own; i++)
        if (hc_place_file(places[i]) == crash.game_file)
            return places[i];
    for (unsigned i = 0; i < count; i++)
        if (hc_place_file(places[i]) == own && skips-- == 0)
            return places[i];
    return count > 0 ? places[0] : NULL;
}

static const char *name_of(int number) {
    unsigned i = 0;
    while (i + 1 < CRASHES && crashes[i].number != number)
        i++;
    return crashes[i].name;
}

/// Writes the facts, as the members of an object or between brackets.
static void describe(char text[static FACTS]) {
    struct hc_crash_fact facts[HC_CRASH_FACTS_MAX];
    unsigned count = crash.describe != NULL ? crash.describe(facts) : 0;
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count && at < FACTS; i++) {
        const struct hc_crash_fact *fact = &facts[i];
        const char *before = crash.json ? ",\"" : i == 0 ? " (" : " ";
        const char *quote = crash.json && fact->word != NULL ? "\"" : "";
        int size = snprintf(text + at, FACTS - at, "%s%s%s%s", before, fact->name,
                            crash.json ? "\":" : "=", quote);
        at += size > 0 ? (size_t)size : 0;
        if (at >= FACTS)
            break;
        size = fact->word != NULL ? snprintf(text + at, FACTS - at, "%s%s", fact->word, quote)
                                  : snprintf(text + at, FACTS - at, "%" PRIu64, fact->number);
        at += size > 0 ? (size_t)size : 0;
    }
    if (count > 0 && !crash.json && at + 1 < FACTS)
        memcpy(text + at, ")", 2);
}

/// Writes the last words.
static void say(int number, const char *facts, const char *place) {
    const char *begin = crash.begin != NULL ? crash.begin : "";
    char words[WORDS];
    int size;
    if (crash.json)
        size = snprintf(words, sizeof(words),
                        "%s{\"level\":\"error\",\"event\":\"crash\",\"signal\":%d%s,"
                        "\"why\":\"%s, in %s\"}\n",
                        begin, number, facts, name_of(number), place);
    else
        size = snprintf(words, sizeof(words), "%s%s: crash by signal %d%s: %s, in %s\n", begin,
                        crash.program, number, facts, name_of(number), place);
    if (size > 0 && write(STDERR_FILENO, words, (size_t)size) < 0)
        return;
}

/// Replaces what JSON would not take in a string.
static void make_plain(char *text) {
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            *text = '?';
}

/// In the child: says where, with the line.
static _Noreturn void say_line(int number, const char *facts, const void *place) {
    char text[HC_PLACE_TEXT] = "an unknown place";
    sigset_t alarms;
    for (unsigned i = 0; i < CRASHES; i++)
        signal(crashes[i].number, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL); // threads have it blocked
    alarm(LINE_S);
    if (place != NULL)
        hc_place_line(place, text, sizeof(text));
    make_plain(text);
    say(number, facts, text);
    _exit(0);
}

/// Waits until the child has said it; false: it has not, and is gone.
static bool has_written(pid_t child) {
    const struct timespec pause_of = {.tv_nsec = LOOK_MS * 1000000L};
    int status = 1;
    for (unsigned i = 0; child > 0 && i < (LINE_S + 1) * 1000 / LOOK_MS; i++) {
        if (waitpid(child, &status, WNOHANG) != 0)
            return status == 0;
        nanosleep(&pause_of, NULL);
    }
    if (child > 0 && kill(child, SIGKILL) == 0)
        (void)waitpid(child, &status, 0);
    return false;
}

/// A child writes it, because the search for the line allocates memory and runs a program: what the
/// crash has damaged may hang or crash it. If it has said nothing, this process says the function.
static void say_last_words(void) {
    char text[HC_PLACE_TEXT] = "an unknown place";
    pid_t child = _Fork();
    if (child == 0)
        say_line(crash.number, crash.facts, crash.place);
    if (has_written(child))
        return;
    if (crash.place != NULL)
        hc_place_name(crash.place, text, sizeof(text));
    make_plain(text);
    say(crash.number, crash.facts, text);
}

/// The handlers stay until the end, so that another thread that crashes meanwhile waits too. A
/// crash in crash.end() costs the rest of that alone.
static void on_crash(int number) {
    if (!atomic_flag_test_and_set(&crash.begun)) {
        crash.thread = pthread_self();
        crash.number = number;
        crash.place = find_place(number);
        describe(crash.facts);
        crash.ends = 1;
        if (crash.end != NULL)
            crash.end();
    } else
        while (!pthread_equal(crash.thread, pthread_self()))
            pause(); // the thread that crashed first ends the process
    if (crash.ends) {
        crash.ends = 0;
        say_last_words();
    }
    signal(number, SIG_DFL);
    raise(number);
}

/// The stack of a thread for its handlers.
struct thread_stack {
    stack_t before; ///< the stack that the thread had for them, such as a sanitizer's
    _Alignas(16) unsigned char bytes[STACK];
};

static pthread_key_t stack_key;

/// The thread ends, by a return or by pthread_exit.
static void free_stack(void *memory) {
    struct thread_stack *stack = memory;
    sigaltstack(&stack->before, NULL);
    free(stack);
}

static void create_key(void) {
    pthread_key_create(&stack_key, free_stack);
}

void hc_crash_watch_thread(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct thread_stack *stack = malloc(sizeof(*stack));
    pthread_once(&once, create_key);
    if (stack == NULL)
        return;
    sigaltstack(&(stack_t){.ss_sp = stack->bytes, .ss_size = sizeof(stack->bytes)}, &stack->before);
    pthread_setspecific(stack_key, stack);
}

void hc_crash_call(unsigned (*describes)(struct hc_crash_fact facts[static HC_CRASH_FACTS_MAX]),
                   void (*end)(void)) {
    crash.describe = describes;
    crash.end = end;
}

void hc_crash_begin_with(const char *text) {
    crash.begin = text;
}

void hc_crash_watch(const char *program, const void *game, bool json) {
    static _Alignas(16) unsigned char stack[STACK]; // of the main thread
    const void *places[HC_PLACES_MAX];
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER | SA_ONSTACK}, before;
    crash.program = program;
    crash.game_file = hc_place_file(game);
    crash.json = json;
    (void)hc_backtrace(places); // loads what a handler must not load
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
    for (unsigned i = 0; i < CRASHES; i++) // a sanitizer has handlers of its own, which say more
        if (sigaction(crashes[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(crashes[i].number, &action, NULL);
}
