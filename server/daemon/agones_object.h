/// The gameserver object of Agones, as its sidecar describes it: the state, the allocation, the
/// health checks and the ports.
///
/// The keys are those of the sidecar's REST interface (`object_meta`, `period_seconds`); those of
/// the cluster's own objects (`metadata`, `periodSeconds`) are taken too. Numbers of 64 bits are
/// strings there.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_AGONES_WORD = 64,           ///< bytes of a text, with its terminator
    HC_SV_AGONES_HEALTH_PERIOD_S = 5, ///< the period if the object names none
};

/// The state of a gameserver, as far as its server acts on it.
enum hc_sv_agones_state {
    HC_SV_AGONES_UNKNOWN,   ///< a word that is in no documentation, or none
    HC_SV_AGONES_BEFORE,    ///< before Ready
    HC_SV_AGONES_READY,     ///< the allocator may choose it, and the autoscaler may delete it
    HC_SV_AGONES_RESERVED,  ///< kept from the allocator for a while
    HC_SV_AGONES_ALLOCATED, ///< players come or are there, and nothing deletes it
    HC_SV_AGONES_ENDING,    ///< Shutdown, Error or Unhealthy
};

struct hc_sv_agones_object {
    enum hc_sv_agones_state state;
    char word[HC_SV_AGONES_WORD];      ///< the state in the word of Agones
    char allocated[HC_SV_AGONES_WORD]; ///< time of the newest allocation; "": there was none
    bool health_is_off;                ///< health checks are disabled
    uint32_t health_period_s;          ///< [1, 3600]
};

/// Reads an object. False: it is none, and `object` is as before.
bool hc_sv_agones_object_read(const json_t *json, struct hc_sv_agones_object *object);

/// The host's port of this name; 0: the object has none.
uint16_t hc_sv_agones_object_port(const json_t *json, const char *name);

/// A whole number of at least 0, which may be a string of digits; -1: it is none.
int64_t hc_sv_agones_number(const json_t *json);

/// Copies UTF-8 to `text`, of `size` bytes with the zero, and cuts it between characters.
void hc_sv_agones_copy(const char *from, char *text, size_t size);
