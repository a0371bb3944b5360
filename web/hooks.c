/// Owns the imported functions that clients call.
#include "web/hooks.h"

#define IMPORT(name) __attribute__((import_module("hindcast"), import_name(name)))

IMPORT("log") extern void import_log(uint32_t number, const char *line);
IMPORT("rollback") extern void import_rollback(uint32_t number, hc_tick first, uint32_t ended);

static void log_line(void *context, const char *line) {
    import_log((uint32_t)(uintptr_t)context, line);
}

static void begin_rollback(void *context, const struct hc_client *client, hc_tick first) {
    (void)client;
    import_rollback((uint32_t)(uintptr_t)context, first, false);
}

static void end_rollback(void *context, const struct hc_client *client, hc_tick first) {
    (void)client;
    import_rollback((uint32_t)(uintptr_t)context, first, true);
}

void hc_web_hook(struct hc_client_config *config, void *number, bool rollbacks) {
    config->log = log_line;
    config->log_context = config->rollback_context = number;
    if (rollbacks) {
        config->rollback_begins = begin_rollback;
        config->rollback_ended = end_rollback;
    }
}
