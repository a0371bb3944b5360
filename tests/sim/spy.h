/// Sees every (key, nonce) that is sealed in this program, and whether one was sealed with before;
/// and counts the operations on X25519's curve.
///
/// The linker hands it every such call of libsodium, whoever makes it (`hc_spied` in
/// tests/CMakeLists.txt), so that the product has no hook for it. Not for threads.
#pragma once

#include <stdint.h>

enum {
    HC_SPY_MAX = 1 << 18, ///< sealings that can be remembered; one more stops the program
};

/// What was sealed since the beginning, or since hc_spy_reset.
struct hc_spy {
    uint32_t sealed;
    uint32_t keys;    ///< different ones
    uint32_t repeats; ///< sealings with a key and a nonce that had sealed together before
    uint32_t curve;   ///< scalar multiplications, also while it looks away
};

/// Forgets everything, and looks from now on.
void hc_spy_reset(void);

/// Looks away until hc_spy_reset: for programs that seal more than can be remembered.
void hc_spy_stop(void);

/// What was seen so far.
struct hc_spy hc_spy_seen(void);
