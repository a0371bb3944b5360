/// Macros of the public headers: exported functions, and declarations that C and C++ share.
#pragma once

/// HC_EXPORT marks what a plugin exports, and HC_API what the library does; all else is hidden. A
/// program for Windows that is linked with the static library defines HC_STATIC, as CMake's
/// hindcast::hindcast_static does.
#if defined(_WIN32)
#define HC_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define HC_EXPORT __attribute__((visibility("default")))
#else
#define HC_EXPORT
#endif
#if !defined(_WIN32) || defined(HC_BUILDS_LIBRARY)
#define HC_API HC_EXPORT
#elif defined(HC_STATIC)
#define HC_API
#else
#define HC_API __declspec(dllimport)
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
