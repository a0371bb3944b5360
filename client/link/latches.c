/// Makes stamps of samples, bit by bit.
#include "client/link/latches.h"

#include <string.h>

void hc_cl_latches_begin(struct hc_cl_latches *latches) {
    memset(latches->presses, 0, sizeof latches->presses);
    memset(latches->stamp, 0, sizeof latches->stamp);
    memset(latches->repeated, 0, sizeof latches->repeated);
}

void hc_cl_latches_sample(struct hc_cl_latches *latches, const uint8_t *mask, const void *sample,
                          size_t size) {
    const uint8_t *now = sample;
    for (size_t i = 0; i < size; i++)
        latches->presses[i] |= (uint8_t)(now[i] & ~latches->sample[i] & mask[i]);
    memcpy(latches->sample, sample, size);
}

void hc_cl_latches_stamp(struct hc_cl_latches *latches, const uint8_t *mask, void *out,
                         size_t size) {
    for (size_t i = 0; i < size; i++) {
        uint8_t sample = latches->sample[i], presses = latches->presses[i];
        // A button that the last stamp shows pressed was released before it was pressed again: this
        // stamp shows the release, and the next one the press.
        uint8_t waiting = presses & latches->stamp[i];
        uint8_t buttons = (uint8_t)((sample | presses) & ~waiting) & mask[i];
        latches->presses[i] = waiting;
        latches->stamp[i] = (uint8_t)(sample & ~mask[i]) | buttons;
        latches->repeated[i] = (uint8_t)(sample & ~mask[i]) | (uint8_t)(buttons & sample);
    }
    memcpy(out, latches->stamp, size);
}

void hc_cl_latches_repeat(struct hc_cl_latches *latches, void *out, size_t size) {
    memcpy(latches->stamp, latches->repeated, size);
    memcpy(out, latches->stamp, size);
}
