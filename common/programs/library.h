/// A shared library that a program loads: the plugin of --game, or the drawing of --drawing.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// An open library. All zeros: none.
struct hc_library {
    void *handle; ///< of dlopen; NULL: none is open
    int file;     ///< the copy that was loaded; 0: the file itself was
};

/// Opens the library `path`; without a slash it is a file of this directory. `anew`: loads a copy
/// of the file as it is now, because the system would give the library that it has loaded from this
/// path before. False: failed, and `why` is a sentence.
bool hc_library_open(struct hc_library *library, const char *path, bool anew, char *why,
                     size_t why_size);

/// The symbol of that name; NULL: the library has none.
const void *hc_library_find(const struct hc_library *library, const char *name);

/// Closes it, after which nothing of it is called or read; none may be open.
void hc_library_close(struct hc_library *library);
