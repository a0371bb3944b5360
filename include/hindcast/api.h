/// What every public header begins with: which functions the installed library shows, and what C++
/// needs to compile the same declarations.
#pragma once

/// A function that the library shows; everything else is hidden.
#if defined(__GNUC__)
#define HC_API __attribute__((visibility("default")))
#else
#define HC_API
#endif

/// HC_C_BEGIN and HC_C_END stand around the declarations of a header: they have C's linkage.
/// HC_AT_LEAST(n) is the size of an array parameter of at least `n` elements, which C checks.
/// HC_NORETURN marks a function that never returns; it precedes HC_API.
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
