/// The life of a validation, its challenges and its bytes.
#include "server/validation.h"

#include "common/elapsed.h"
#include "hindcast/check.h"

#include <string.h>

void hc_sv_validation_begin(struct hc_sv_validation *validation, enum hc_sv_validation_state state,
                            const struct hc_sv_sighting *sighting, uint64_t now_us) {
    HC_ASSERT(state != HC_SV_VALIDATION_NONE);
    bool row = validation->state != HC_SV_VALIDATION_NONE;
    bool before = row && validation->first < sighting->seq;
    *validation = (struct hc_sv_validation){.state = state,
                                            .late = sighting->late,
                                            .homed = sighting->home || (row && validation->homed),
                                            .address = *sighting->from,
                                            .first = before ? validation->first : sighting->seq,
                                            .begun_us = now_us,
                                            .unanswered = validation->unanswered,
                                            .challenged_us = validation->challenged_us};
}

void hc_sv_validation_end(struct hc_sv_validation *validation) {
    validation->state = HC_SV_VALIDATION_NONE;
}

void hc_sv_validation_clear(struct hc_sv_validation *validation) {
    *validation = (struct hc_sv_validation){.state = HC_SV_VALIDATION_NONE};
}

void hc_sv_validation_received(struct hc_sv_validation *validation, size_t size, uint64_t now_us) {
    HC_ASSERT(validation->state != HC_SV_VALIDATION_NONE);
    validation->bytes_in += size;
    validation->received_us = now_us;
}

bool hc_sv_validation_is_of(const struct hc_sv_validation *validation,
                            const struct hc_address *address) {
    return validation->state != HC_SV_VALIDATION_NONE &&
           hc_address_equal(address, &validation->address);
}

bool hc_sv_validation_yields(const struct hc_sv_validation *validation,
                             const struct hc_sv_sighting *sighting, uint64_t stall_us,
                             uint64_t now_us) {
    uint64_t age_us = hc_since(validation->begun_us, now_us),
             silent_us = hc_since(validation->received_us, now_us);
    if (validation->state != HC_SV_VALIDATION_OPEN || (sighting->home && !validation->homed))
        return true;
    return silent_us >= (sighting->late ? HC_PATH_SILENT_US / 2 : HC_PATH_SILENT_US) ||
           age_us >= (sighting->late == validation->late ? 2 * stall_us : stall_us);
}

bool hc_sv_validation_is_answer(const struct hc_sv_validation *validation,
                                const struct hc_address *from,
                                const uint8_t data[static HC_PATH_SIZE]) {
    bool here = validation->state == HC_SV_VALIDATION_OPEN ||
                (validation->state == HC_SV_VALIDATION_PROVING &&
                 hc_address_equal(from, &validation->address));
    return here && memcmp(data, validation->data, HC_PATH_SIZE) == 0;
}

/// Whether `size` more bytes may be sent to the address.
static bool may_send(const struct hc_sv_validation *validation, size_t size) {
    bool sends =
        validation->state == HC_SV_VALIDATION_PROVING || validation->state == HC_SV_VALIDATION_OPEN;
    return sends && !validation->full &&
           validation->bytes_out + size <= HC_PATH_FACTOR * validation->bytes_in;
}

bool hc_sv_validation_challenge_due(struct hc_sv_validation *validation, size_t size,
                                    uint64_t now_us) {
    if (!may_send(validation, size))
        return false;
    uint64_t since_us = hc_since(validation->challenged_us, now_us);
    if (validation->unanswered > 0 && since_us >= HC_PATH_ROW_US)
        validation->unanswered = 0;
    if (validation->unanswered == 0)
        return true;
    uint32_t doublings = validation->unanswered > HC_PATH_CHALLENGES && validation->bytes_out > 0
                             ? validation->unanswered - HC_PATH_CHALLENGES
                             : 0;
    doublings = doublings < HC_PATH_DOUBLINGS ? doublings : HC_PATH_DOUBLINGS;
    return since_us >= (uint64_t)HC_PATH_CHALLENGE_US << doublings;
}

void hc_sv_validation_challenged(struct hc_sv_validation *validation, size_t size,
                                 uint64_t now_us) {
    validation->bytes_out += size;
    validation->unanswered++;
    validation->challenged_us = now_us;
}

bool hc_sv_validation_copies(struct hc_sv_validation *validation, size_t size) {
    if (size == 0 || !may_send(validation, size) || validation->unanswered > HC_PATH_CHALLENGES)
        return false;
    validation->bytes_out += size;
    return true;
}
