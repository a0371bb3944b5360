/// Pre-check: validates a peer's msgpack bytes before msgpack-c parses them, without allocation.
#pragma once

#include "hindcast/status.h"
#include "proto/limits.h"

#include <stddef.h>
#include <stdint.h>

/// Checks the one msgpack value that starts at `bytes` and writes its length to `*used`.
///
/// Allowed are nil, booleans, integers, strings of valid UTF-8 (RFC 3629), binaries and arrays;
/// lengths and counts must fit what is left of `size`. HC_MALFORMED: maps, floats, extensions,
/// 32-bit lengths, bad UTF-8, too deep or too many values. HC_TRUNCATED: the bytes end too early.
/// msgpack-c parses everything that the pre-check accepts.
enum hc_status hc_precheck(const uint8_t *bytes, size_t size, size_t *used);
