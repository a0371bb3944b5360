/// An assertion for checks at every tick, because Check's own report each one that passes.
#pragma once

#include <check.h>

/// Fails the test with a message of printf's arguments unless `condition` holds.
#define REQUIRE(condition, ...) ((condition) ? (void)0 : ck_abort_msg(__VA_ARGS__))
