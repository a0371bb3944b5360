/// Owns what a reload changes, and the log lines about it.
#include "server/daemon/reload.h"

#include "server/daemon/key_file.h"
#include "server/daemon/refused_file.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOW_MS = 5000,    ///< a slower reading of a file is logged
    LOG_FILE_MS = 200, ///< longest wait for a log file that is left
    VALUE_MAX = 4200,  ///< bytes of a value: a path, or a number
};

static void log_line(const struct hc_sv_reload *reload, enum hc_sv_log_level level,
                     const char *event, json_t *fields) {
    hc_sv_log_event(reload->setting->log, level, event, fields);
}

/// Logs that a reading failed (`why`), or is slow (NULL). The former reading stays in force.
static void log_unread(const struct hc_sv_reload *reload, const char *event, const char *path,
                       const char *why) {
    if (why != NULL)
        log_line(reload, HC_SV_LOG_ERROR, event, json_pack("{s:s}", "why", why));
    else
        log_line(reload, HC_SV_LOG_WARN, event,
                 json_pack("{s:s, s:i}", "file", path, "waited_ms", (int)SLOW_MS));
}

/// Gives all workers an order.
static void order_workers(const struct hc_sv_reload *reload, const struct hc_sv_orders *orders) {
    for (unsigned i = 0; i < reload->options->workers; i++)
        hc_sv_mailbox_order(&reload->workers[i].mailbox, orders);
}

// ---- Keys ---------------------------------------------------------------------------------------

/// Makes the key file of the options the one that is read.
static void set_keys_path(struct hc_sv_reload *reload) {
    char place[HC_SV_OWNER_FILE_PATH_MAX];
    snprintf(reload->keys_order.path, sizeof(reload->keys_order.path), "%s",
             hc_sv_owner_file_locate(reload->options->key_file, place, sizeof(place)));
}

/// A reading of the key file ended, or is slow.
static void on_keys(void *context, enum hc_sv_background_status status, const void *out,
                    const char *why) {
    struct hc_sv_reload *reload = context;
    const struct hc_sv_match_setting *setting = reload->setting;
    const struct hc_token_ring *keys = out;
    if (status != HC_SV_BACKGROUND_DONE) {
        const char *event = status == HC_SV_BACKGROUND_SLOW ? "keys-slow" : "keys-refused";
        log_unread(reload, event, reload->keys_order.path, why);
        if (status == HC_SV_BACKGROUND_FAILED)
            reload->keys_are_read = false;
        return;
    }
    reload->keys_are_read = true;
    if (keys->count == 0) {
        log_line(reload, HC_SV_LOG_INFO, "keys-kept",
                 json_pack("{s:s}", "why", "the key file is a pipe, which was read before"));
        return;
    }
    pthread_mutex_lock(setting->placement_lock);
    if (setting->placement != NULL)
        hc_sv_placement_set_keys(setting->placement, keys);
    pthread_mutex_unlock(setting->placement_lock);
    struct hc_sv_orders orders = {.new_keys = true, .keys = *keys};
    order_workers(reload, &orders);
    sodium_memzero(&orders.keys, sizeof(orders.keys));
    log_line(reload, HC_SV_LOG_INFO, "keys-read",
             json_pack("{s:i, s:i}", "current", (int)keys->keys[0].id, "keys", (int)keys->count));
}

// ---- Refused users ------------------------------------------------------------------------------

bool hc_sv_reload_refuse(struct hc_sv_reload *reload, const struct hc_sv_refused_file *refused) {
    const struct hc_sv_orders orders = {
        .refused = hc_sv_refused_users_create(refused, reload->options->workers)};
    if (orders.refused == NULL)
        return false;
    order_workers(reload, &orders);
    return true;
}

/// Refuses these users, and logs it.
static void refuse(struct hc_sv_reload *reload, const struct hc_sv_refused_file *refused) {
    if (!hc_sv_reload_refuse(reload, refused)) {
        log_unread(reload, "refused-unreadable", reload->refused_order.path, "no memory for them");
        return;
    }
    log_line(reload, HC_SV_LOG_INFO, "refused-read",
             json_pack("{s:i, s:I}", "users", (int)refused->count, "not_before_s",
                       (json_int_t)refused->not_before_s));
}

/// A reading of the refused users ended, or is slow.
static void on_refused(void *context, enum hc_sv_background_status status, const void *out,
                       const char *why) {
    struct hc_sv_reload *reload = context;
    if (reload->options->refused == NULL)
        return; // a reload has taken the file out since the reading began
    if (status == HC_SV_BACKGROUND_DONE)
        refuse(reload, out);
    else
        log_unread(reload, status == HC_SV_BACKGROUND_SLOW ? "refused-slow" : "refused-unreadable",
                   reload->refused_order.path, why);
}

// ---- The configuration --------------------------------------------------------------------------

/// A setting's value as text, or null.
static json_t *value_of(const struct hc_setting *row, const struct hc_sv_options *options) {
    char value[VALUE_MAX];
    return hc_setting_format(row, options, value, sizeof(value)) ? json_string(value) : json_null();
}

/// Logs each fault of a reading, and that it changes nothing.
static void log_faults(const struct hc_sv_reload *reload, const struct hc_setting_faults *faults) {
    for (unsigned i = 0; i < faults->count && i < HC_SETTING_FAULTS_MAX; i++) {
        const struct hc_setting_fault *fault = &faults->kept[i];
        json_t *fields = json_object();
        if (fault->place.file != NULL)
            json_object_set_new(fields, "file", json_string(fault->place.file));
        if (fault->place.line > 0)
            json_object_set_new(fields, "line", json_integer(fault->place.line));
        if (fault->name[0] != '\0') {
            json_object_set_new(fields, "key", json_string(fault->name));
            json_object_set_new(fields, "value", json_string(fault->value));
        }
        json_object_set_new(fields, "why", json_string(fault->why));
        log_line(reload, HC_SV_LOG_ERROR, "config-fault", fields);
    }
    log_line(reload, HC_SV_LOG_ERROR, "config-refused",
             json_pack("{s:i, s:s}", "faults", (int)faults->count, "why",
                       "no setting was changed by a configuration with faults"));
}

/// Takes a setting into the options in force. A text gets a place of its own.
static void take(struct hc_sv_reload *reload, unsigned i, const struct hc_sv_options *options) {
    const struct hc_setting *row = &hc_sv_settings[i];
    log_line(reload, HC_SV_LOG_INFO, "setting-changed",
             json_pack("{s:s, s:o, s:o}", "key", row->name, "before",
                       value_of(row, reload->options), "now", value_of(row, options)));
    hc_setting_copy(row, options, reload->options);
    if (row->kind == HC_SETTING_KIND_TEXT &&
        hc_setting_format(row, options, reload->texts[i], sizeof(reload->texts[i])))
        (void)hc_setting_take(row, reload->texts[i], reload->options);
}

/// Logs that a setting stays as it is until a restart.
static void log_waiting(struct hc_sv_reload *reload, unsigned i) {
    const struct hc_setting *row = &hc_sv_settings[i];
    log_line(reload, HC_SV_LOG_WARN, "setting-waits",
             json_pack("{s:s, s:o, s:s}", "key", row->name, "now", value_of(row, reload->options),
                       "why", "the new value waits for a restart of the server"));
}

/// Lets the log go to the file that the options name, or to standard error.
static void move_log(struct hc_sv_reload *reload) {
    struct hc_sv_log *log = reload->setting->log;
    struct hc_sv_options *options = reload->options;
    if (reload->log_file != NULL && options->log_file != NULL) {
        hc_sv_log_file_reopen(reload->log_file, log, options->log_file);
        return;
    }
    if (reload->log_file != NULL) {
        hc_sv_log_redirect(log, STDERR_FILENO);
        hc_sv_log_file_close(reload->log_file, LOG_FILE_MS);
        reload->log_file = NULL;
        return;
    }
    if (options->log_file == NULL)
        return;
    reload->log_file = hc_sv_log_file_start(log, options->log_file);
    if (reload->log_file != NULL) {
        hc_sv_log_redirect(log, hc_sv_log_file_descriptor(reload->log_file));
        return;
    }
    log_line(reload, HC_SV_LOG_ERROR, "log-file-refused",
             json_pack("{s:s}", "why", "no memory or no descriptors for the log's thread"));
    options->log_file = reload->order.now.log_file = NULL; // the next reload tries again
}

/// Puts settings into force that have changed.
static void apply(struct hc_sv_reload *reload) {
    const struct hc_sv_options *options = reload->options;
    const struct hc_sv_orders orders = {.new_settings = true,
                                        .settings = hc_sv_options_play(options)};
    order_workers(reload, &orders);
    hc_sv_log_set_level(reload->setting->log, options->level);
    reload->order.now = *options;
}

/// Reads the key file, unless it is a pipe that was read.
static void read_keys(struct hc_sv_reload *reload) {
    char before[HC_SV_OWNER_FILE_PATH_MAX];
    memcpy(before, reload->keys_order.path, sizeof(before));
    set_keys_path(reload);
    if (strcmp(before, reload->keys_order.path) != 0)
        reload->keys_are_read = false;
    reload->keys_order.again = reload->keys_are_read;
    hc_sv_background_start(reload->keys);
}

/// Reads the files that the options name.
static void read_files(struct hc_sv_reload *reload) {
    const struct hc_sv_options *options = reload->options;
    static const struct hc_sv_refused_file none;
    if (reload->keys != NULL)
        read_keys(reload);
    bool refused_before = reload->refused_order.path[0] != '\0';
    snprintf(reload->refused_order.path, HC_SV_OWNER_FILE_PATH_MAX, "%s",
             options->refused != NULL ? options->refused : "");
    if (options->refused != NULL)
        hc_sv_background_start(reload->refused);
    else if (refused_before)
        refuse(reload, &none);
}

/// Puts a reading of the configuration into force.
static void take_reading(struct hc_sv_reload *reload, const struct hc_sv_reading *reading) {
    unsigned changed = 0, waiting = 0;
    reload->reloads++;
    if (reading->faults.count > 0) {
        reload->refusals++;
        log_faults(reload, &reading->faults);
        return;
    }
    for (unsigned i = 0; i < HC_SV_SETTING_COUNT; i++) {
        if (reading->changed[i])
            take(reload, i, &reading->options);
        if (reading->waits[i])
            log_waiting(reload, i);
        if (hc_sv_settings[i].change == HC_SETTING_LIVE)
            reload->options->given[i] = reading->options.given[i];
        changed += reading->changed[i];
        waiting += reading->waits[i];
    }
    apply(reload);
    if (reading->changed[HC_SV_SETTING_log_file])
        move_log(reload);
    log_line(reload, HC_SV_LOG_INFO, "config-read",
             json_pack("{s:i, s:i, s:i}", "files", (int)reload->order.command->config.count,
                       "changed", (int)changed, "waiting", (int)waiting));
}

void hc_sv_reload_read_refused(struct hc_sv_reload *reload) {
    if (reload->options->refused != NULL)
        hc_sv_background_start(reload->refused);
}

bool hc_sv_reload_set_snapshot_rate(struct hc_sv_reload *reload, uint64_t hz) {
    struct hc_sv_options options = *reload->options;
    if (hz > options.tick_rate)
        return false;
    options.snapshot_rate = (uint16_t)hz;
    if (hz == reload->options->snapshot_rate)
        return true;
    take(reload, HC_SV_SETTING_snapshot_rate, &options);
    apply(reload);
    return true;
}

/// A hc_sv_background_run; the faults are in the reading.
static bool read_config(const void *order, void *out, char *why, size_t why_size) {
    const struct hc_sv_reload_order *reload = order;
    if (why_size > 0)
        why[0] = '\0';
    hc_sv_options_read(reload->command, &reload->now, out);
    return true;
}

/// A reading of the configuration ended, or is slow.
static void on_config(void *context, enum hc_sv_background_status status, const void *out,
                      const char *why) {
    struct hc_sv_reload *reload = context;
    if (status == HC_SV_BACKGROUND_SLOW) {
        log_unread(reload, "config-slow", reload->order.command->config.all[0], NULL);
        return;
    }
    if (status == HC_SV_BACKGROUND_DONE)
        take_reading(reload, out);
    else
        log_unread(reload, "config-refused", NULL, why);
    read_files(reload);
}

// ---- Lifecycle ----------------------------------------------------------------------------------

void hc_sv_reload_open(struct hc_sv_reload *reload, const struct hc_sv_match_setting *setting,
                       const struct hc_sv_options *command, struct hc_sv_options *options,
                       struct hc_sv_worker *workers) {
    reload->setting = setting;
    reload->options = options;
    reload->workers = workers;
    reload->order = (struct hc_sv_reload_order){.command = command, .now = *options};
    reload->keys_order.kind = &hc_sv_key_file_kind;
    reload->refused_order.kind = &hc_sv_refused_file_kind;
    snprintf(reload->refused_order.path, HC_SV_OWNER_FILE_PATH_MAX, "%s",
             options->refused != NULL ? options->refused : "");
    if (options->dev)
        return;
    set_keys_path(reload);
    reload->keys_are_read = true; // at the start
}

/// A place to read a kind of file.
static struct hc_sv_background *open_reader(struct hc_sv_reload *reload, struct event_base *base,
                                            const struct hc_sv_owner_file_order *order,
                                            hc_sv_background_done *done) {
    const struct hc_sv_background_work work = {.run = hc_sv_owner_file_run,
                                               .order = order,
                                               .order_size = sizeof(*order),
                                               .out_size = order->kind->size};
    return hc_sv_background_open(base, &work, SLOW_MS, done, reload);
}

bool hc_sv_reload_watch(struct hc_sv_reload *reload, struct event_base *base) {
    const struct hc_sv_background_work config = {.run = read_config,
                                                 .order = &reload->order,
                                                 .order_size = sizeof(reload->order),
                                                 .out_size = sizeof(struct hc_sv_reading)};
    bool has_config = reload->order.command->config.count > 0, has_keys = !reload->options->dev;
    if (has_config)
        reload->config = hc_sv_background_open(base, &config, SLOW_MS, on_config, reload);
    if (has_keys)
        reload->keys = open_reader(reload, base, &reload->keys_order, on_keys);
    reload->refused = open_reader(reload, base, &reload->refused_order, on_refused);
    return (!has_config || reload->config != NULL) && (!has_keys || reload->keys != NULL) &&
           reload->refused != NULL;
}

void hc_sv_reload_start(struct hc_sv_reload *reload) {
    if (reload->log_file != NULL)
        move_log(reload);
    if (reload->config != NULL)
        hc_sv_background_start(reload->config);
    else
        read_files(reload);
}

static bool runs(const struct hc_sv_background *reader) {
    return reader != NULL && hc_sv_background_runs(reader);
}

bool hc_sv_reload_runs(const struct hc_sv_reload *reload) {
    return runs(reload->config) || runs(reload->keys) || runs(reload->refused);
}

void hc_sv_reload_close(struct hc_sv_reload *reload) {
    hc_sv_background_close(reload->config);
    hc_sv_background_close(reload->keys);
    hc_sv_background_close(reload->refused);
}
