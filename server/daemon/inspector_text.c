/// Owns the JSON of the inspector's events. Lists of many numbers are arrays, whose order is that
/// of server/inspector/frames.js.
#define _GNU_SOURCE // strnlen

#include "server/daemon/inspector_text.h"

#include "common/elapsed.h"
#include "server/daemon/inspector_columns.h"

#include <string.h>

enum { SCHEMA = 1 };

static void add(struct hc_sv_json_text *text, const char *plain) {
    hc_sv_json_text_add(text, plain);
}

static void next(struct hc_sv_json_text *text, uint64_t number) {
    hc_sv_json_text_next(text, (int64_t)number);
}

static void add_string(struct hc_sv_json_text *text, const char *string) {
    hc_sv_json_text_string(text, string, strlen(string));
}

static void add_key(struct hc_sv_json_text *text, const char *key, uint64_t number) {
    add(text, ",\"");
    add(text, key);
    add(text, "\":");
    hc_sv_json_text_number(text, (int64_t)number);
}

// ---- Hello --------------------------------------------------------------------------------------

static void add_columns(struct hc_sv_json_text *text) {
    static const struct {
        const char *key, *form, *unit, *label;
    } columns[] = {
#define HC_SV_COLUMN(key, form, unit, known, value, label) {#key, #form, unit, label},
        HC_SV_INSPECTOR_COLUMNS(HC_SV_COLUMN)
#undef HC_SV_COLUMN
    };
    add(text, ",\"columns\":[");
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        add(text, i == 0 ? "[" : ",[");
        add_string(text, columns[i].key);
        add(text, ",");
        add_string(text, columns[i].form);
        add(text, ",");
        add_string(text, columns[i].unit);
        add(text, ",");
        add_string(text, columns[i].label);
        add(text, "]");
    }
    add(text, "]");
}

void hc_sv_inspector_text_hello(struct hc_sv_json_text *text,
                                const struct hc_sv_match_setting *setting,
                                const struct hc_world *world, unsigned match, uint64_t worlds) {
    const struct hc_game *game = world->game;
    add(text, "{\"schema\":");
    hc_sv_json_text_number(text, SCHEMA);
    add(text, ",\"version\":");
    add_string(text, setting->version);
    add(text, ",\"game\":");
    add_string(text, game->name);
    add_key(text, "game_version", game->version);
    add_key(text, "match", match);
    add_key(text, "matches", setting->options->matches);
    add_key(text, "worlds", worlds);
    add_key(text, "tick_rate", world->tick_rate);
    add_key(text, "players", world->players);
    add_key(text, "entities", world->entities);
    add(text, ",\"kinds\":[");
    for (unsigned i = 0; i < game->kind_count; i++) {
        add(text, i == 0 ? "" : ",");
        add_string(text, game->kinds[i].name);
    }
    add(text, "]");
    add_columns(text);
    add(text, "}");
}

// ---- Frames -------------------------------------------------------------------------------------

/// Adds the kind of an entity and its owner; -1: nobody's.
static void next_entity(struct hc_sv_json_text *text, const struct hc_world *world,
                        hc_entity entity) {
    hc_player owner = world->owner_of[entity];
    next(text, world->kind_of[entity]);
    hc_sv_json_text_next(text, owner == HC_NO_PLAYER ? -1 : owner);
}

static void add_tick(struct hc_sv_json_text *text, const struct hc_sv_probe_tick *tick) {
    add(text, "[");
    hc_sv_json_text_number(text, tick->tick);
    next(text, tick->count);
    next(text, tick->work.late_us);
    next(text, tick->work.receive_us);
    next(text, tick->again_us);
    next(text, hc_since(tick->again_us, tick->work.advance_us));
    next(text, tick->work.send_us);
    next(text, tick->depth);
    next(text, tick->again_ticks);
    next(text, tick->again_steps);
    next(text, tick->steps);
    next(text, tick->snapshots);
    next(text, tick->bytes_sent);
    add(text, "]");
}

static void add_cause(struct hc_sv_json_text *text, const struct hc_rewind_cause *cause) {
    add(text, "[");
    hc_sv_json_text_number(text, cause->kind);
    next(text, cause->tick);
    hc_sv_json_text_next(text, cause->player == HC_NO_PLAYER ? -1 : cause->player);
    next(text, cause->cid);
    add(text, ",");
    hc_sv_json_text_long(text, cause->client_id);
    add(text, "]");
}

static void add_rewind(struct hc_sv_json_text *text, const struct hc_world *world,
                       const struct hc_rewind *rewind) {
    add(text, "[");
    hc_sv_json_text_number(text, rewind->head);
    next(text, rewind->from);
    next(text, rewind->ticks);
    next(text, rewind->steps);
    next(text, rewind->changed);
    next(text, rewind->entities);
    next(text, rewind->more_causes);
    add(text, ",[");
    for (uint32_t i = 0; i < rewind->cause_count; i++) {
        add(text, i == 0 ? "" : ",");
        add_cause(text, &rewind->causes[i]);
    }
    add(text, "],[");
    for (uint32_t i = 0; i < rewind->change_count; i++) {
        const struct hc_rewind_change *change = &rewind->changes[i];
        add(text, i == 0 ? "[" : ",[");
        hc_sv_json_text_number(text, change->entity);
        next_entity(text, world, change->entity);
        next(text, change->first);
        next(text, change->last);
        add(text, "]");
    }
    add(text, "]]");
}

static void add_history(struct hc_sv_json_text *text, const struct hc_world *world,
                        const struct hc_sv_probe_history *history) {
    add_key(text, "lost_ticks", history->lost_ticks);
    add_key(text, "lost_rewinds", history->lost_rewinds);
    add(text, ",\"ticks\":[");
    for (uint32_t i = 0; i < history->tick_count; i++) {
        add(text, i == 0 ? "" : ",");
        add_tick(text, &history->ticks[i]);
    }
    add(text, "],\"rewinds\":[");
    for (uint32_t i = 0; i < history->rewind_count; i++) {
        add(text, i == 0 ? "" : ",");
        add_rewind(text, world, &history->rewinds[i]);
    }
    add(text, "]");
}

/// Adds a figure of a client; null: unknown.
static void add_figure(struct hc_sv_json_text *text, bool known, int64_t thousandths) {
    add(text, ",");
    if (known)
        hc_sv_json_text_decimal(text, thousandths);
    else
        add(text, "null");
}

static void add_client(struct hc_sv_json_text *text, const struct hc_server_client *c) {
    add(text, "[");
    hc_sv_json_text_number(text, c->session.cid);
    add(text, ",");
    hc_sv_json_text_long(text, c->session.client_id);
    add(text, ",");
    hc_sv_json_text_string(text, (const char *)c->name,
                           strnlen((const char *)c->name, sizeof(c->name)));
    next(text, c->session.connected);
    add(text, ",[");
    for (unsigned i = 0; i < c->session.player_count; i++) {
        add(text, i == 0 ? "" : ",");
        hc_sv_json_text_number(text, c->players[i]);
    }
    add(text, "]");
#define HC_SV_FIGURE(key, form, unit, known, value, label)                                         \
    add_figure(text, known, (int64_t)(value));
    HC_SV_INSPECTOR_COLUMNS(HC_SV_FIGURE)
#undef HC_SV_FIGURE
    add(text, "]");
}

void hc_sv_inspector_text_frame(struct hc_sv_json_text *text, const struct hc_world *world,
                                const struct hc_sv_probe_frame *frame, uint64_t number) {
    add(text, "{\"frame\":");
    hc_sv_json_text_number(text, (int64_t)number);
    add_key(text, "head", frame->head);
    add_history(text, world, &frame->history);
    add_key(text, "client_total", frame->client_total);
    add(text, ",\"clients\":[");
    for (uint32_t i = 0; i < frame->client_count; i++) {
        add(text, i == 0 ? "" : ",");
        add_client(text, &frame->clients[i]);
    }
    add(text, "]");
    add_key(text, "alive", frame->alive);
    add_key(text, "every", frame->every);
    add(text, ",\"map\":[");
    for (uint32_t i = 0; i < frame->entity_count; i++) {
        const struct hc_sv_probe_entity *entity = &frame->entities[i];
        add(text, i == 0 ? "" : ",");
        hc_sv_json_text_number(text, entity->entity);
        next_entity(text, world, entity->entity);
        hc_sv_json_text_next(text, entity->x);
        hc_sv_json_text_next(text, entity->y);
    }
    add(text, "]}");
}

void hc_sv_inspector_text_sight(struct hc_sv_json_text *text, const struct hc_world *world,
                                const struct hc_sv_probe_sight *sight, uint64_t number) {
    add(text, "{\"frame\":");
    hc_sv_json_text_number(text, (int64_t)number);
    add_key(text, "cid", sight->cid);
    add_key(text, "total", sight->total);
    add(text, ",\"sent\":[");
    for (uint32_t i = 0; i < sight->count; i++) {
        const struct hc_sv_probe_entity *entity = &sight->sent[i];
        add(text, i == 0 ? "" : ",");
        hc_sv_json_text_number(text, entity->entity);
        next_entity(text, world, entity->entity);
        next(text, entity->tick);
        hc_sv_json_text_next(text, entity->x);
        hc_sv_json_text_next(text, entity->y);
    }
    add(text, "]}");
}
