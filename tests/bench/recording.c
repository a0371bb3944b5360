/// The events of a recording, and the simulator's hooks that add them.
#include "tests/bench/recording.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/// Makes room for `more` elements of `each` bytes behind `used`; false: memory is short.
static bool make_room(void **array, size_t *room, size_t used, size_t more, size_t each) {
    if (used + more <= *room)
        return true;
    size_t wanted = 2 * (used + more);
    void *grown = realloc(*array, wanted * each);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

void bench_events_add(struct bench_events *events, const struct bench_event *event,
                      const void *bytes) {
    void *list = events->events, *all = events->bytes;
    events->failed |= !make_room(&list, &events->room, events->count, 1, sizeof *events->events) ||
                      !make_room(&all, &events->bytes_room, events->size, event->size, 1);
    events->events = list;
    events->bytes = all;
    if (events->failed)
        return;
    struct bench_event *added = &events->events[events->count++];
    *added = *event;
    added->offset = events->size;
    if (event->size > 0)
        memcpy(events->bytes + events->size, bytes, event->size);
    events->size += event->size;
}

void bench_events_free(struct bench_events *events) {
    free(events->events);
    free(events->bytes);
    *events = (struct bench_events){.failed = false};
}

uint64_t bench_sent_hash(uint64_t sent, const uint8_t *bytes, size_t size) {
    return XXH64(bytes, size, sent);
}

void bench_recording_free(struct bench_recording *recording) {
    bench_events_free(&recording->host);
    bench_events_free(&recording->client);
}

void bench_recording_created(struct bench_recording *recording, struct hc_sim *sim) {
    recording->host_config = hc_sim_config(sim)->host;
    recording->host_test = hc_sim_config(sim)->host_test;
    memcpy(recording->host_secret, recording->host_config.secret, sizeof recording->host_secret);
    recording->game = *recording->host_config.game;
    recording->host_begun_us = hc_sim_host_now(sim);
}

void bench_recording_connected(struct bench_recording *recording, struct hc_sim *sim) {
    recording->client_config = *hc_sim_client_config(sim, recording->recorded);
    memcpy(recording->entropy, recording->client_config.entropy, sizeof recording->entropy);
    recording->client_begun_us = hc_sim_client_now(sim, recording->recorded);
}

void bench_recording_measures(struct bench_recording *recording, struct hc_sim *sim) {
    recording->host_from_us = hc_sim_host_now(sim);
    recording->client_from_us = hc_sim_client_now(sim, recording->recorded);
}

void bench_recording_script(struct bench_recording *recording, unsigned client, const void *input,
                            size_t size) {
    if (client != recording->recorded)
        return;
    recording->input_size = size;
    memcpy(recording->input, input, size);
}

void bench_recording_host_received(struct bench_recording *recording, struct hc_sim *sim,
                                   uint16_t port, size_t size) {
    struct bench_event event = {
        .at_us = hc_sim_host_now(sim), .kind = BENCH_EVENT_RECEIVE, .port = port, .size = size};
    bench_events_add(&recording->host, &event, hc_sim_sealed(sim));
}

void bench_recording_host_advances(struct bench_recording *recording, struct hc_sim *sim) {
    struct bench_event event = {.at_us = hc_sim_host_now(sim), .kind = BENCH_EVENT_ADVANCE};
    bench_events_add(&recording->host, &event, "");
}

void bench_recording_host_sent(struct bench_recording *recording, struct hc_sim *sim, size_t size) {
    recording->host.sent = bench_sent_hash(recording->host.sent, hc_sim_sealed(sim), size);
}

void bench_recording_client_received(struct bench_recording *recording, struct hc_sim *sim,
                                     unsigned client, size_t size) {
    if (client != recording->recorded)
        return;
    struct bench_event event = {
        .at_us = hc_sim_client_now(sim, client), .kind = BENCH_EVENT_RECEIVE, .size = size};
    bench_events_add(&recording->client, &event, hc_sim_sealed(sim));
    recording->received = true;
}

void bench_recording_client_changed(struct bench_recording *recording, struct hc_sim *sim,
                                    unsigned client) {
    if (client != recording->recorded)
        return;
    struct bench_event event = {.at_us = hc_sim_client_now(sim, client),
                                .kind = BENCH_EVENT_ADVANCE,
                                .size = recording->input_size};
    if (!recording->received)
        bench_events_add(&recording->client, &event, recording->input);
    recording->received = false;
    recording->input_size = 0;
}

void bench_recording_client_sent(struct bench_recording *recording, struct hc_sim *sim,
                                 unsigned client, size_t size) {
    if (client == recording->recorded)
        recording->client.sent = bench_sent_hash(recording->client.sent, hc_sim_sealed(sim), size);
}
