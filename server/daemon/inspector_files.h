/// The files of the inspector's page, which CMake puts into the program (cmake/inspector.cmake).
#pragma once

#include <stddef.h>

struct hc_sv_inspector_file {
    const char *path; ///< of a request, such as "/inspector/main.js"
    const char *type; ///< its Content-Type
    const unsigned char *bytes;
    size_t size;
};

extern const struct hc_sv_inspector_file hc_sv_inspector_files[];
extern const size_t hc_sv_inspector_file_count;
