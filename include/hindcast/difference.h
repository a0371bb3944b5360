/// A desync: where the world of a client differs from that of its server.
#pragma once

#include "hindcast/api.h"
#include "hindcast/game.h"

HC_C_BEGIN

enum { HC_DIFFERENCE_TEXT_MAX = 320 }; ///< bytes of hc_difference_text

/// Where a world differs. A client's hash covers a whole snapshot, so the client asks the server
/// for the values that differ.
struct hc_difference {
    hc_tick tick; ///< tick of the snapshot whose hash did not match
    /// The server's values were compared. False: the server did not answer, and the rest is a
    /// suspect only: the first field that the client's step has changed since the value that the
    /// server sent before.
    bool compared;
    hc_entity entity;
    const struct hc_kind *kind; ///< kind of the entity; NULL: neither entity nor field is known
    /// The first field that differs. NULL: none is suspect, or the entity is alive on one side and
    /// absent on the other.
    const struct hc_field *field;
    /// The values of the field, or without a field those of the presence (an enum hc_presence);
    /// valid where `compared`. The server's value may not fit the field, if the rule has overflowed
    /// it.
    int64_t client_value, server_value;
};

/// Writes a difference as one sentence to `text` (`size` bytes), which it returns.
HC_API const char *hc_difference_text(const struct hc_difference *difference, char *text,
                                      size_t size);

HC_C_END
