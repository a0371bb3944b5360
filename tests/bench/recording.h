/// Records what the host and one client of a simulated match receive, and when, so that each can be
/// run again without the others, and measured.
///
/// A host and a client are functions of their configuration, datagrams, inputs and times. So a
/// replay does the recorded work, and sends the datagrams whose hash was recorded.
#pragma once

#include "tests/sim/sim.h"

enum bench_event_kind {
    BENCH_EVENT_RECEIVE, ///< a datagram arrives, at the host from `port`
    BENCH_EVENT_ADVANCE, ///< the host or the client advances; the client with the input in its
                         ///< bytes
};

struct bench_event {
    uint64_t at_us; ///< on the clock of the host or of the client
    enum bench_event_kind kind;
    uint16_t port;
    size_t size, offset; ///< of its bytes
};

/// The events of one end, in order. All zeros is an empty list.
struct bench_events {
    struct bench_event *events;
    uint8_t *bytes;
    size_t count, room, size, bytes_room;
    uint64_t sent; ///< hash of all datagrams that the end has sent
    bool failed;   ///< memory was short
};

/// All zeros but `recorded` is a recording that has not begun.
struct bench_recording {
    unsigned recorded; ///< the client
    struct hc_game game;
    struct hc_server_config host_config; ///< with the game of the match, which ends with it
    struct hc_sv_host_test host_test;
    uint8_t host_secret[HC_SERVER_SECRET_SIZE];
    struct hc_client_config client_config;
    uint8_t entropy[HC_CLIENT_ENTROPY_SIZE];
    uint64_t host_begun_us, client_begun_us; ///< creation of the host and of the client
    uint64_t host_from_us, client_from_us;   ///< the measured part begins
    struct bench_events host, client;
    bool received; ///< the client has received a datagram, but has not advanced since
    uint8_t input[HC_INPUT_MAX];
    size_t input_size; ///< of the input with which the client is about to advance; 0: none
};

/// Adds an event and copies its bytes, of which `event->size` says the number.
void bench_events_add(struct bench_events *events, const struct bench_event *event,
                      const void *bytes);
void bench_events_free(struct bench_events *events);

/// The hash of the datagrams sent so far, with another one.
uint64_t bench_sent_hash(uint64_t sent, const uint8_t *bytes, size_t size);

void bench_recording_free(struct bench_recording *recording);

// The match calls these when the host has been created, when the recorded client has, and when the
// measured part begins.
void bench_recording_created(struct bench_recording *recording, struct hc_sim *sim);
void bench_recording_connected(struct bench_recording *recording, struct hc_sim *sim);
void bench_recording_measures(struct bench_recording *recording, struct hc_sim *sim);

// The simulator's hooks of these names call these.
void bench_recording_script(struct bench_recording *recording, unsigned client, const void *input,
                            size_t size);
void bench_recording_host_received(struct bench_recording *recording, struct hc_sim *sim,
                                   uint16_t port, size_t size);
void bench_recording_host_advances(struct bench_recording *recording, struct hc_sim *sim);
void bench_recording_host_sent(struct bench_recording *recording, struct hc_sim *sim, size_t size);
void bench_recording_client_received(struct bench_recording *recording, struct hc_sim *sim,
                                     unsigned client, size_t size);
void bench_recording_client_changed(struct bench_recording *recording, struct hc_sim *sim,
                                    unsigned client);
void bench_recording_client_sent(struct bench_recording *recording, struct hc_sim *sim,
                                 unsigned client, size_t size);
