/// Owns the JSON of /status.
#define _GNU_SOURCE // strnlen

#include "server/daemon/overview.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/// Microseconds as milliseconds.
static double ms(int64_t us) {
    return (double)us / 1000;
}

/// Microseconds as milliseconds; null: unknown.
static json_t *ms_or_null(bool known, int64_t us) {
    return known ? json_real(ms(us)) : json_null();
}

static json_t *name_of(const struct hc_server_client *client) {
    json_t *name = json_stringn((const char *)client->name,
                                strnlen((const char *)client->name, sizeof(client->name)));
    return name != NULL ? name : json_string("");
}

/// A client. Numbers of 64 bits are strings: not every JSON reader reads them exactly.
static json_t *client_part(const struct hc_server_client *client) {
    char user[24], address[HC_ADDRESS_TEXT_MAX];
    json_t *players = json_array();
    for (unsigned i = 0; i < client->session.player_count; i++)
        json_array_append_new(players, json_integer(client->players[i]));
    snprintf(user, sizeof(user), "%" PRIu64, client->session.client_id);
    json_t *part = json_pack(
        "{s:s, s:I, s:o, s:s, s:b, s:o, s:I, s:o, s:o, s:o}", "client_id", user, "cid",
        (json_int_t)client->session.cid, "name", name_of(client), "address",
        hc_address_format(&client->address, address), "connected", (int)client->session.connected,
        "players", players, "connected_s", (json_int_t)(client->connected_us / 1000000), "rtt_ms",
        ms_or_null(client->rtt_us != 0, (int64_t)client->rtt_us), "jitter_ms",
        ms_or_null(client->rtt_us != 0, (int64_t)client->jitter_us), "loss_pct",
        hc_report_ratio(100 * (double)client->datagrams_lost, (double)client->datagrams_sent));
    json_t *rest =
        json_pack("{s:o, s:o, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "margin_low_ms",
                  ms_or_null(client->has_margin, client->margin_low_us), "margin_median_ms",
                  ms_or_null(client->has_margin, client->margin_median_us), "usual_late_ticks",
                  (int)client->usual_late_ticks, "display_delay_ticks", (int)client->display_offset,
                  "bytes_received", (json_int_t)client->bytes_received, "bytes_sent",
                  (json_int_t)client->bytes_sent, "datagrams_received",
                  (json_int_t)client->datagrams_received, "datagrams_sent",
                  (json_int_t)client->datagrams_sent, "datagrams_lost",
                  (json_int_t)client->datagrams_lost, "rewinds", (json_int_t)client->late_inputs,
                  "rewound_ticks", (json_int_t)client->late_ticks);
    json_object_update(part, rest);
    json_decref(rest);
    return part;
}

/// A match; `current`: its list of clients may be read.
static json_t *match_part(const struct hc_sv_match *match, const struct hc_sv_match_counts *counts,
                          bool current) {
    json_t *clients = json_array();
    for (uint32_t i = 0; current && i < match->listed_count; i++)
        json_array_append_new(clients, client_part(&match->listed[i]));
    return json_pack(
        "{s:i, s:b, s:I, s:I, s:I, s:i, s:b, s:o, s:o, s:o, s:o}", "match", (int)match->number,
        "current", (int)current, "tick", (json_int_t)(current ? match->listed_tick : counts->ticks),
        "worlds", (json_int_t)counts->worlds, "seed", (json_int_t)counts->seed, "overload_level",
        (int)counts->host.overload.level, "refuses_joins", (int)atomic_load(&match->refuses),
        "tick_ms", hc_report_histogram(&counts->work.tick_us, 1000), "tick_lateness_ms",
        hc_report_histogram(&counts->host.lateness, 1000), "rewind_depth_ticks",
        hc_report_histogram(&counts->host.rewind_depth, 1), "clients", clients);
}

json_t *hc_sv_overview_json(struct hc_sv_control *control) {
    const struct hc_sv_match_setting *setting = control->setting;
    const struct hc_sv_options *options = control->options;
    json_t *matches = json_array();
    for (unsigned number = 1; number <= options->matches; number++) {
        const struct hc_sv_match *match = hc_sv_worker_match(control->workers, number);
        hc_sv_published_read(&match->counts, &control->match);
        unsigned worker = hc_sv_worker_of(number, options->workers);
        bool current = hc_sv_control_has_published(control, worker) &&
                       !hc_sv_control_match_hangs(control, number);
        json_array_append_new(matches, match_part(match, &control->match, current));
    }
    return json_pack("{s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:b, s:b, s:b, s:o, s:o}",
                     "schema_version", HC_SV_OVERVIEW_SCHEMA, "program", "hindcastd", "version",
                     setting->version, "game", options->plugin.game->name, "game_version",
                     (int)options->plugin.game->version, "tick_rate_hz", (int)options->tick_rate,
                     "max_clients", (int)options->clients, "running_s",
                     (json_int_t)(hc_since(setting->began_us, hc_clock_us()) / 1000000), "stopping",
                     (int)control->stopping, "healthy", (int)hc_sv_control_is_healthy(control),
                     "ready", (int)hc_sv_control_is_ready(control), "hangs",
                     hc_sv_control_hangs(control), "matches", matches);
}
