/// The faults that hindcast-check has found: each place once, with the command that repeats it.
#pragma once

#include "hindcast/game.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/// The kinds of faults; hc_ck_kind_name names them.
enum hc_ck_kind {
    HC_CK_UNWRITTEN,  ///< a step leaves bytes of its state unwritten
    HC_CK_REPEAT,     ///< a step repeated at once gives another state
    HC_CK_ORDER,      ///< a step in another order of entities gives another state
    HC_CK_READ,       ///< a step reads what it may not read
    HC_CK_WRITE,      ///< a step writes into the world before it
    HC_CK_OVERRUN,    ///< a step writes outside of its state
    HC_CK_RUN,        ///< `step_run` gives another state than `step`
    HC_CK_RANGE,      ///< a field does not fit its bits
    HC_CK_SECRET,     ///< a step makes up secret random bits where it has none
    HC_CK_VACANT,     ///< a vacant player does not stay so, although the game promises it
    HC_CK_EMIT,       ///< a step emits an event that the tables do not allow
    HC_CK_CRASH,      ///< a function of the game ends by a signal
    HC_CK_START,      ///< `start` is not a function of its arguments
    HC_CK_PREDICT,    ///< `predict_input` breaks its contract
    HC_CK_SANITIZE,   ///< `sanitize_input` breaks its contract
    HC_CK_HIDES,      ///< `hides` is not a function of its arguments
    HC_CK_BUILD,      ///< the other build gives another result
    HC_CK_SPREAD,     ///< late inputs lead to another state than inputs in time
    HC_CK_ALLOCATION, ///< the plugin imports a function that allocates
    HC_CK_CLOCK,      ///< the plugin imports a function that reads a clock
    HC_CK_RANDOM,     ///< the plugin imports a function that draws random numbers
    HC_CK_FUNCTION,   ///< the plugin imports a function that no game needs
    HC_CK_FLOAT,      ///< the plugin computes with floating point
    HC_CK_VARIABLE,   ///< the plugin has a variable that outlives a call
    HC_CK_KINDS
};

struct hc_ck_faults;

/// The name of a kind, one word.
const char *hc_ck_kind_name(enum hc_ck_kind kind);

/// An empty list for the plugin `path` (NULL: the arena) and its other build (NULL: none), which
/// are borrowed, and for histories from `seed` on, of `ticks` ticks (0: as the seeds draw them).
/// NULL: no memory.
struct hc_ck_faults *hc_ck_faults_create(const char *path, const char *build, uint64_t seed,
                                         uint32_t ticks);

/// Frees it; NULL is allowed.
void hc_ck_faults_destroy(struct hc_ck_faults *faults);

/// Sets the seed of the history that is played, for the commands of later faults.
void hc_ck_faults_set_seed(struct hc_ck_faults *faults, uint64_t seed);

/// The command that plays so many histories again, from the first; the caller frees it.
char *hc_ck_faults_command(const struct hc_ck_faults *faults, uint64_t histories);

/// Adds a fault with a sentence, formatted as by printf, and prints it. `where` identifies the
/// place: only the first fault of each kind and place counts.
__attribute__((format(printf, 4, 5))) void hc_ck_fault(struct hc_ck_faults *faults,
                                                       enum hc_ck_kind kind, const char *where,
                                                       const char *format, ...);

/// Whether a fault of this kind was found, in this place if `where` is not NULL.
bool hc_ck_faults_have(const struct hc_ck_faults *faults, enum hc_ck_kind kind, const char *where);

/// The number of faults.
uint32_t hc_ck_faults_count(const struct hc_ck_faults *faults);

/// The faults as a JSON array of {kind, text, command}, which the caller owns.
json_t *hc_ck_faults_json(const struct hc_ck_faults *faults);

/// Writes "tick T, entity E (kind)" to `text`; returns it.
const char *hc_ck_place(const struct hc_world *world, hc_tick tick, hc_entity entity, char *text,
                        size_t size);

/// Compares two states of one kind. Returns the first field that differs; NULL: they are equal.
const struct hc_field *hc_ck_differing(const struct hc_kind *kind, const void *a, const void *b);
