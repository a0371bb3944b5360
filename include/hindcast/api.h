/// Macros of the public headers: exported functions, and declarations that C and C++ share.
#pragma once

/// Marks a function that the library exports; all others are hidden.
#if defined(__GNUC__)
#define HC_API __attribute__((visibility("default")))
#else
#define HC_API
#endif

/// HC_C_BEGIN and HC_C_END enclose a header's declarations, which have C linkage.
/// HC_AT_LEAST(n) is the size of an array parameter with at least `n` elements, which C checks.
/// HC_NORETURN precedes HC_API and marks a function that never returns.
#if defined(__cplusplus)
#define HC_C_BEGIN extern "C" {
#define HC_C_END }
#define HC_AT_LEAST(n) n
#define HC_NORETURN [[noreturn]]
#else
#define HC_C_BEGIN
#define HC_C_END
#define HC_AT_LEAST(n) static n
#define HC_NORETURN _Noreturn
#endif
