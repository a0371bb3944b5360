/// Owns the signals of threads.
#define _GNU_SOURCE // SIGRTMIN

#include "common/programs/thread.h"

#include <signal.h>

/// A crash whose signal is blocked ends the process without its last words.
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

int hc_thread_question(void) {
    return SIGRTMIN;
}

bool hc_thread_start(pthread_t *thread, void *(*run)(void *), void *context) {
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, hc_thread_question());
    for (unsigned i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
        sigdelset(&others, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    bool good = pthread_create(thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}
