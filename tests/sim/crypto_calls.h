/// Counts this program's calls of libsodium: sealings, those that repeat a (key, nonce), and
/// operations on X25519's curve.
///
/// The linker redirects these calls (`hc_wrap_crypto_calls` in tests/CMakeLists.txt), so the
/// product needs no hook. Not for threads.
#pragma once

#include <stdint.h>

enum {
    HC_CRYPTO_CALLS_MAX = 1 << 18, ///< sealings that can be remembered; one more aborts the program
};

/// Counts since the beginning, or since hc_crypto_calls_reset.
struct hc_crypto_calls {
    uint32_t sealed;
    uint32_t keys;    ///< different ones
    uint32_t repeats; ///< sealings with a key and a nonce that had sealed together before
    uint32_t curve;   ///< scalar multiplications, also after hc_crypto_calls_stop
};

/// Forgets everything and starts to count.
void hc_crypto_calls_reset(void);

/// Ignores sealings until hc_crypto_calls_reset: for programs that seal more than can be
/// remembered.
void hc_crypto_calls_stop(void);

/// The counts so far.
struct hc_crypto_calls hc_crypto_calls(void);
