/// Assertions: for errors of the program, never of a peer. They stay on in every build.
#pragma once

#include "hindcast/api.h"

HC_C_BEGIN

/// Prints the place and the condition to standard error and aborts.
HC_NORETURN HC_API void hc_check_failed(const char *file, int line, const char *condition);

#define HC_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : hc_check_failed(__FILE__, __LINE__, #condition))

/// An assertion that is too slow for a release: on when HC_VALIDATE is 1 (presets dev and asan).
#ifndef HC_VALIDATE
#define HC_VALIDATE 0
#endif
#if HC_VALIDATE
#define HC_CHECK(condition) HC_ASSERT(condition)
#else
#define HC_CHECK(condition) ((void)(0 && (condition)))
#endif

HC_C_END
