/// Owns the list of members that JavaScript sees. A member that is not listed stays as its default.
#include "web/layout.h"

#include "client/view/controls.h"
#include "hindcast/client.h"
#include "hindcast/network_sim.h"
#include "hindcast/notice.h"
#include "hindcast/rewind.h"
#include "hindcast/server.h"
#include "web/painter.h"

#include <stdbool.h>
#include <stddef.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define MEMBER_OF(m) (((struct S *)0)->m)

/// The type of a number. `char` is none: it is a text.
#define TYPE_OF(m)                                                                                 \
    _Generic(MEMBER_OF(m),                                                                         \
        bool: HC_WEB_BOOL,                                                                         \
        uint8_t: HC_WEB_U8,                                                                        \
        uint16_t: HC_WEB_U16,                                                                      \
        uint32_t: HC_WEB_U32,                                                                      \
        int32_t: HC_WEB_I32,                                                                       \
        uint64_t: HC_WEB_U64,                                                                      \
        int64_t: HC_WEB_I64,                                                                       \
        double: HC_WEB_F64,                                                                        \
        const char *: HC_WEB_STRING,                                                               \
        default: HC_WEB_POINTER)

#define AS(m, type, count, of)                                                                     \
    { #m, offsetof(struct S, m), (type), (count), (of) }
#define M(m) AS(m, TYPE_OF(m), 0, NULL)
#define ID(m) AS(m, HC_WEB_ID, 0, NULL)
#define TEXT(m) AS(m, HC_WEB_TEXT, sizeof MEMBER_OF(m), NULL)
#define BYTES(m) AS(m, HC_WEB_BYTES, sizeof MEMBER_OF(m), NULL)
#define WORD(m, words) AS(m, HC_WEB_WORD, 0, words)
#define PART(m, layout) AS(m, HC_WEB_STRUCT, 0, &(layout))
#define PARTS(m, layout) AS(m, HC_WEB_STRUCT, COUNT(MEMBER_OF(m)), &(layout))
#define ARRAY(m, type) AS(m, type, COUNT(MEMBER_OF(m)), NULL)

#define LAYOUT(name)                                                                               \
    { #name, sizeof(struct hc_##name), COUNT(name##_members), name##_members }

// ---- Words --------------------------------------------------------------------------------------

static const char *const extrapolations[] = {[HC_EXTRAPOLATION_HOLD] = "hold",
                                             [HC_EXTRAPOLATION_LINEAR] = "linear",
                                             [HC_EXTRAPOLATION_STEP] = "step",
                                             NULL};
static const char *const others[] = {[HC_OTHERS_BY_GAME] = "by-game",
                                     [HC_OTHERS_PREDICTED] = "predicted",
                                     [HC_OTHERS_AS_RECEIVED] = "as-received",
                                     NULL};
static const char *const client_events[] = {[HC_CLIENT_EVENT_ACCEPTED] = "accepted",
                                            [HC_CLIENT_EVENT_PLAYING] = "playing",
                                            [HC_CLIENT_EVENT_STALLED] = "stalled",
                                            [HC_CLIENT_EVENT_UNSTALLED] = "unstalled",
                                            [HC_CLIENT_EVENT_DENIED] = "denied",
                                            [HC_CLIENT_EVENT_VERSION] = "version",
                                            [HC_CLIENT_EVENT_CLOSED] = "closed",
                                            [HC_CLIENT_EVENT_TIMEOUT] = "timeout",
                                            [HC_CLIENT_EVENT_LOST] = "lost",
                                            [HC_CLIENT_EVENT_RECONNECTED] = "reconnected",
                                            [HC_CLIENT_EVENT_MOVED] = "moved",
                                            [HC_CLIENT_EVENT_DESYNC] = "desync",
                                            [HC_CLIENT_EVENT_PLAYER_JOINED] = "player-joined",
                                            [HC_CLIENT_EVENT_PLAYER_LEFT] = "player-left",
                                            [HC_CLIENT_EVENT_PLAYER_NAMED] = "player-named",
                                            [HC_CLIENT_EVENT_NOTICE] = "notice",
                                            [HC_CLIENT_EVENT_KINDS] = NULL};
static const char *const notices[] = {[0] = "other",
                                      [HC_NOTICE_OPERATOR] = "operator",
                                      [HC_NOTICE_ENDING] = "ending",
                                      [HC_NOTICE_RESTARTING] = "restarting",
                                      NULL};
static const char *const losses[] = {
    [HC_CLIENT_LOSS_SILENCE] = "silence", [HC_CLIENT_LOSS_RESET] = "reset",
    [HC_CLIENT_LOSS_TIMEOUT] = "timeout", [HC_CLIENT_LOSS_RENEWAL] = "renewal",
    [HC_CLIENT_LOSS_RESTART] = "restart", NULL};
static const char *const game_event_states[] = {[HC_CLIENT_GAME_EVENT_PREDICTED] = "predicted",
                                                [HC_CLIENT_GAME_EVENT_LATE] = "late",
                                                [HC_CLIENT_GAME_EVENT_CONFIRMED] = "confirmed",
                                                [HC_CLIENT_GAME_EVENT_CANCELLED] = "cancelled",
                                                NULL};
static const char *const server_events[] = {
    [HC_SERVER_EVENT_JOINED] = "joined",           [HC_SERVER_EVENT_LEFT] = "left",
    [HC_SERVER_EVENT_TIMEOUT] = "timeout",         [HC_SERVER_EVENT_LOST] = "lost",
    [HC_SERVER_EVENT_RECONNECTED] = "reconnected", [HC_SERVER_EVENT_MOVED] = "moved",
    [HC_SERVER_EVENT_ROUND_ENDED] = "round-ended", [HC_SERVER_EVENT_KINDS] = NULL};
static const char *const causes[] = {
    [HC_REWIND_INPUT] = "input", [HC_REWIND_UNTOLD] = "untold", [HC_REWIND_ROSTER] = "roster",
    [HC_REWIND_STATE] = "state", [HC_REWIND_ORDER] = "order",   [HC_REWIND_CAUSE_KINDS] = NULL};

// ---- Both ends ----------------------------------------------------------------------------------

#define S hc_credential
static const struct hc_web_member credential_members[] = {BYTES(token), BYTES(secret)};
static const struct hc_web_layout credential = LAYOUT(credential);
#undef S
#define S hc_difference
static const struct hc_web_member difference_members[] = {M(tick), M(compared), M(entity),
                                                          M(client_value), M(server_value)};
static const struct hc_web_layout difference = LAYOUT(difference);
#undef S
#define S hc_field
static const struct hc_web_member field_members[] = {
    M(name), M(offset), M(size), M(bits), M(is_signed), M(shown_ago), M(own_shown_ago)};
static const struct hc_web_layout field = LAYOUT(field);
#undef S
#define S hc_kind
static const struct hc_web_member kind_members[] = {M(name), M(state_size), M(field_count),
                                                    M(fields)};
static const struct hc_web_layout kind = LAYOUT(kind);
#undef S
#define S hc_game_event_kind
static const struct hc_web_member game_event_kind_members[] = {M(name)};
static const struct hc_web_layout game_event_kind = LAYOUT(game_event_kind);
#undef S
#define S hc_game
static const struct hc_web_member game_members[] = {
    M(name),         M(version),    M(players_max),       M(kinds),       M(kind_count),
    M(input_fields), M(input_size), M(input_field_count), M(event_kinds), M(event_kind_count)};
static const struct hc_web_layout game = LAYOUT(game);
#undef S
#define S hc_world
static const struct hc_web_member world_members[] = {M(players),  M(tick_rate), ID(seed),
                                                     M(entities), M(per_owner), M(stride),
                                                     M(kind_of),  M(owner_of)};
static const struct hc_web_layout world = LAYOUT(world);
#undef S

#define COUNTER(name, kind, ...) COUNTER_##kind(name)
#define COUNTER_SUM(m) M(m),
#define COUNTER_GAUGE(m) M(m),
#define COUNTER_MAX(m) M(m),
#define COUNTER_HISTOGRAM(m) AS(m, HC_WEB_HISTOGRAM, 0, NULL),
#define COUNTER_CAUSES(m) ARRAY(m, HC_WEB_U64),

#define S hc_timeline_stats
static const struct hc_web_member timeline_stats_members[] = {HC_TIMELINE_COUNTERS(COUNTER)
                                                                  M(depth)};
static const struct hc_web_layout timeline_stats = LAYOUT(timeline_stats);
#undef S

// ---- The client ---------------------------------------------------------------------------------

#define S hc_client_config
static const struct hc_web_member client_config_members[] = {M(game),
                                                             ID(rule_hash),
                                                             PART(credential, credential),
                                                             M(players),
                                                             WORD(extrapolation, extrapolations),
                                                             M(input_delay),
                                                             M(display_offset),
                                                             WORD(others, others),
                                                             M(lead),
                                                             M(prediction_limit),
                                                             M(input_redundancy),
                                                             M(smoothing_us),
                                                             M(timeout_us),
                                                             M(reconnect_us),
                                                             M(entropy),
                                                             M(stays_desynced),
                                                             M(ticks_per_advance),
                                                             M(input_delay_max),
                                                             M(lead_max),
                                                             M(display_offset_max)};
static const struct hc_web_layout client_config = LAYOUT(client_config);
#undef S
#define S hc_client_timing
static const struct hc_web_member client_timing_members[] = {M(input_delay), M(input_delay_max),
                                                             M(lead), M(lead_max)};
static const struct hc_web_layout client_timing = LAYOUT(client_timing);
#undef S
#define S hc_client_display
static const struct hc_web_member client_display_members[] = {M(offset), WORD(others, others)};
static const struct hc_web_layout client_display = LAYOUT(client_display);
#undef S
#define S hc_notice
static const struct hc_web_member notice_members[] = {WORD(kind, notices), M(seconds), TEXT(where),
                                                      TEXT(text)};
static const struct hc_web_layout notice = LAYOUT(notice);
#undef S
#define S hc_client_event
static const struct hc_web_member client_event_members[] = {WORD(kind, client_events),
                                                            M(deny),
                                                            M(retry_ms),
                                                            M(close),
                                                            WORD(loss, losses),
                                                            M(resumed),
                                                            M(player),
                                                            TEXT(name),
                                                            M(tick),
                                                            PART(difference, difference),
                                                            M(notice)};
static const struct hc_web_layout client_event = LAYOUT(client_event);
#undef S
#define S hc_client_attempt
static const struct hc_web_member client_attempt_members[] = {M(answered), M(denied), M(proven),
                                                              M(deny), ID(protocol_id)};
static const struct hc_web_layout client_attempt = LAYOUT(client_attempt);
#undef S
#define S hc_client_game_event
static const struct hc_web_member client_game_event_members[] = {
    WORD(state, game_event_states), M(tick), M(entity), M(kind), M(number)};
static const struct hc_web_layout client_game_event = LAYOUT(client_game_event);
#undef S
#define S hc_client_visible
static const struct hc_web_member client_visible_members[] = {M(entity), M(owner), M(kind),
                                                              M(visible)};
static const struct hc_web_layout client_visible = LAYOUT(client_visible);
#undef S
#define S hc_client_shown
static const struct hc_web_member client_shown_members[] = {M(entity), M(owner), M(kind), M(table),
                                                            ARRAY(values, HC_WEB_F64)};
static const struct hc_web_layout client_shown = LAYOUT(client_shown);
#undef S
#define S hc_client_recent
static const struct hc_web_member client_recent_members[] = {
    M(rtt_us),          M(jitter_us),     M(loss_up_ppm),      M(loss_down_ppm),
    M(rtt_min_us),      M(margin_low_us), M(margin_median_us), M(margin_known),
    M(snapshot_age_us), M(drift_ppm),     M(drift_known),      M(predicted_ticks),
    M(rollback_ticks),  M(others_ticks),  M(in_flight_bytes),  M(in_flight_bound_bytes),
    M(input_delay),     M(lead)};
static const struct hc_web_layout client_recent = LAYOUT(client_recent);
#undef S
#define S hc_client_stats
static const struct hc_web_member client_stats_members[] = {HC_CLIENT_LINK_COUNTERS(
    COUNTER) HC_CLIENT_WORLD_COUNTERS(COUNTER) HC_CLIENT_PATH_COUNTERS(COUNTER)};
static const struct hc_web_layout client_stats = LAYOUT(client_stats);
#undef S
#define S hc_cl_controls
static const struct hc_web_member cl_controls_members[] = {M(x), M(y), M(aim_x), M(aim_y),
                                                           ARRAY(buttons, HC_WEB_BOOL)};
static const struct hc_web_layout cl_controls = LAYOUT(cl_controls);
#undef S

// ---- The server and its links -------------------------------------------------------------------

#define S hc_address
static const struct hc_web_member address_members[] = {BYTES(ip), M(port)};
static const struct hc_web_layout address = LAYOUT(address);
#undef S
#define S hc_token_key
static const struct hc_web_member token_key_members[] = {M(id), BYTES(key)};
static const struct hc_web_layout token_key = LAYOUT(token_key);
#undef S
#define S hc_token_ring
static const struct hc_web_member token_ring_members[] = {PARTS(keys, token_key), M(count)};
static const struct hc_web_layout token_ring = LAYOUT(token_ring);
#undef S
#define S hc_server_config
static const struct hc_web_member server_config_members[] = {M(clients),
                                                             M(tick_rate),
                                                             M(game),
                                                             ID(rule_hash),
                                                             ID(seed),
                                                             M(history),
                                                             M(late_margin),
                                                             PART(keys, token_ring),
                                                             ID(audience),
                                                             M(secret),
                                                             M(timeout_us),
                                                             M(linger_us),
                                                             M(connects_per_address),
                                                             M(clients_per_address),
                                                             M(players_per_client),
                                                             M(spectators),
                                                             M(session_life_s),
                                                             M(client_rate),
                                                             M(snapshot_rate),
                                                             M(force_rewind),
                                                             M(lag_compensation_ms),
                                                             M(remembered_users)};
static const struct hc_web_layout server_config = LAYOUT(server_config);
#undef S
#define S hc_server_user
static const struct hc_web_member server_user_members[] = {ID(client_id), TEXT(name),
                                                           BYTES(user_data), M(players), M(watch)};
static const struct hc_web_layout server_user = LAYOUT(server_user);
#undef S
#define S hc_server_event
static const struct hc_web_member server_event_members[] = {WORD(kind, server_events),
                                                            M(tick),
                                                            PART(difference, difference),
                                                            PART(address, address),
                                                            M(cid),
                                                            M(before),
                                                            M(close),
                                                            M(by_client),
                                                            ID(client_id),
                                                            TEXT(name),
                                                            BYTES(user_data),
                                                            M(player_count),
                                                            ARRAY(players, HC_WEB_U16)};
static const struct hc_web_layout server_event = LAYOUT(server_event);
#undef S
#define S hc_server_session
static const struct hc_web_member server_session_members[] = {ID(client_id), M(cid),
                                                              M(player_count), M(connected)};
static const struct hc_web_layout server_session = LAYOUT(server_session);
#undef S
#define S hc_server_client
static const struct hc_web_member server_client_members[] = {PART(session, server_session),
                                                             TEXT(name),
                                                             ARRAY(players, HC_WEB_U16),
                                                             PART(address, address),
                                                             M(connected_us),
                                                             M(datagrams_received),
                                                             M(bytes_received),
                                                             M(datagrams_sent),
                                                             M(bytes_sent),
                                                             M(datagrams_lost),
                                                             M(rtt_us),
                                                             M(jitter_us),
                                                             M(has_margin),
                                                             M(margin_low_us),
                                                             M(margin_median_us),
                                                             M(usual_late_ticks),
                                                             M(display_offset),
                                                             M(late_inputs),
                                                             M(late_ticks)};
static const struct hc_web_layout server_client = LAYOUT(server_client);
#undef S
#define S hc_server_game_event
static const struct hc_web_member server_game_event_members[] = {M(tick), M(entity), M(kind),
                                                                 M(number)};
static const struct hc_web_layout server_game_event = LAYOUT(server_game_event);
#undef S
#define S hc_server_message
static const struct hc_web_member server_message_members[] = {M(cid), ID(client_id), M(size)};
static const struct hc_web_layout server_message = LAYOUT(server_message);
#undef S
#define S hc_server_stats
static const struct hc_web_member server_stats_members[] = {HC_SERVER_COUNTERS(COUNTER)};
static const struct hc_web_layout server_stats = LAYOUT(server_stats);
#undef S
#define S hc_rewind_cause
static const struct hc_web_member rewind_cause_members[] = {
    WORD(kind, causes), M(tick), M(player), M(entity), M(cid), ID(client_id)};
static const struct hc_web_layout rewind_cause = LAYOUT(rewind_cause);
#undef S
#define S hc_rewind_change
static const struct hc_web_member rewind_change_members[] = {M(entity), M(first), M(last)};
static const struct hc_web_layout rewind_change = LAYOUT(rewind_change);
#undef S
#define S hc_rewind
static const struct hc_web_member rewind_members[] = {M(head),
                                                      M(from),
                                                      M(ticks),
                                                      M(steps),
                                                      M(changed),
                                                      M(entities),
                                                      M(change_count),
                                                      M(cause_count),
                                                      M(more_causes),
                                                      PARTS(causes, rewind_cause),
                                                      PARTS(changes, rewind_change)};
static const struct hc_web_layout rewind = LAYOUT(rewind);
#undef S
#define S hc_network_sim_config
static const struct hc_web_member network_sim_config_members[] = {
    M(latency_us),  M(jitter_us),   M(loss_ppm),    M(burst_mean), M(duplicate_ppm),
    M(reorder_ppm), M(bytes_per_s), M(queue_bytes), M(queue_us)};
static const struct hc_web_layout network_sim_config = LAYOUT(network_sim_config);
#undef S
#define S hc_network_sim_stats
static const struct hc_web_member network_sim_stats_members[] = {
    M(sent), M(delivered), M(lost), M(dropped_full), M(dropped_queue), M(duplicated)};
static const struct hc_web_layout network_sim_stats = LAYOUT(network_sim_stats);
#undef S

// ---- The page -----------------------------------------------------------------------------------

/// Enums that functions return.
struct hc_web_words {
    enum hc_client_state client_state;
    enum hc_slot slot;
};

static const char *const client_states[] = {[HC_CLIENT_CONNECTING] = "connecting",
                                            [HC_CLIENT_JOINING] = "joining",
                                            [HC_CLIENT_PLAYING] = "playing",
                                            [HC_CLIENT_STALLED] = "stalled",
                                            [HC_CLIENT_RECONNECTING] = "reconnecting",
                                            [HC_CLIENT_LEAVING] = "leaving",
                                            [HC_CLIENT_CLOSED] = "closed",
                                            NULL};
static const char *const slots[] = {[HC_SLOT_UNKNOWN] = "unknown",
                                    [HC_SLOT_KNOWN] = "known",
                                    [HC_SLOT_FORCED] = "forced",
                                    [HC_SLOT_RETRACTED] = "retracted",
                                    NULL};

#define S hc_area
static const struct hc_web_member area_members[] = {M(left), M(top), M(width), M(height)};
static const struct hc_web_layout area = LAYOUT(area);
#undef S
#define S hc_web_words
static const struct hc_web_member web_words_members[] = {WORD(client_state, client_states),
                                                         WORD(slot, slots)};
static const struct hc_web_layout web_words = LAYOUT(web_words);
#undef S
#define S hc_web_place
static const struct hc_web_member web_place_members[] = {
    M(width), M(height), M(ghosts), PART(area, area), M(scale), M(self), M(self_x), M(self_y)};
static const struct hc_web_layout web_place = LAYOUT(web_place);
#undef S

const struct hc_web_layout *const *hc_web_layouts(void) {
    static const struct hc_web_layout *const all[] = {&credential,
                                                      &difference,
                                                      &field,
                                                      &kind,
                                                      &game_event_kind,
                                                      &game,
                                                      &world,
                                                      &timeline_stats,
                                                      &client_config,
                                                      &client_timing,
                                                      &client_display,
                                                      &client_event,
                                                      &notice,
                                                      &client_attempt,
                                                      &client_game_event,
                                                      &client_visible,
                                                      &client_shown,
                                                      &client_recent,
                                                      &client_stats,
                                                      &cl_controls,
                                                      &address,
                                                      &token_ring,
                                                      &server_config,
                                                      &server_user,
                                                      &server_event,
                                                      &server_session,
                                                      &server_client,
                                                      &server_game_event,
                                                      &server_message,
                                                      &server_stats,
                                                      &rewind,
                                                      &network_sim_config,
                                                      &network_sim_stats,
                                                      &web_words,
                                                      &web_place,
                                                      NULL};
    return all;
}
