/// The parts that small games of tests share: a referee and an input of a byte each, and players
/// that are absent before they join. A test adds its kinds and its step.
#pragma once

#include "hindcast/game.h"

static const struct hc_field byte_fields[] = {{.name = "byte", .size = 1, .bits = 8}};

#define BYTE_REFEREE                                                                               \
    { "referee", 1, 1, byte_fields, NULL, NULL, 0, 0 }

static inline bool byte_start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)out;
    return self == HC_REFEREE;
}

static inline void byte_predict(const void *last, uint32_t age, void *out) {
    (void)age;
    *(uint8_t *)out = *(const uint8_t *)last;
}

static inline void byte_sanitize(void *input) {
    (void)input;
}

/// A game of a referee and one other kind. Each player owns `owned_[]`.
#define BYTE_GAME(name_, players_, kinds_, owned_, step_)                                          \
    {                                                                                              \
        .name = (name_), .version = 1, .players_max = (players_), .kinds = (kinds_),               \
        .kind_count = 2, .owned = (owned_), .owned_count = sizeof(owned_) / sizeof(owned_[0]),     \
        .input_fields = byte_fields, .input_field_count = 1, .input_size = 1, .reach = 10,         \
        .start = byte_start, .step = (step_), .predict_input = byte_predict,                       \
        .sanitize_input = byte_sanitize                                                            \
    }
