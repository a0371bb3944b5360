/// Reads files again while the daemon runs: the configuration, the token keys and the refused
/// users. Their contents are put into force; a file that cannot be used changes nothing.
///
/// It belongs to the control thread, which alone reads and writes those settings of the daemon's
/// options that may change. The workers have copies, which orders in their mailboxes renew.
#pragma once

#include "server/daemon/background.h"
#include "server/daemon/log_file.h"
#include "server/daemon/owner_file.h"
#include "server/daemon/worker.h"

struct event_base;

/// An order to read the configuration again.
struct hc_sv_reload_order {
    const struct hc_sv_options *command; ///< what the command line sets
    struct hc_sv_options now;            ///< the options in force
};

struct hc_sv_reload {
    const struct hc_sv_match_setting *setting;
    struct hc_sv_options *options; ///< those of the setting
    struct hc_sv_worker *workers;  ///< [options->workers]
    struct hc_sv_reload_order order;
    struct hc_sv_owner_file_order keys_order, refused_order;
    struct hc_sv_background *config; ///< NULL without --config
    struct hc_sv_background *keys;   ///< NULL in --dev
    struct hc_sv_background *refused;
    bool keys_are_read;              ///< the last reading of the key file could use it
    struct hc_sv_log_file *log_file; ///< the caller opens and closes it; NULL: standard error
    uint64_t reloads, refusals;      ///< readings of the configuration, and those with faults
    char texts[HC_SV_SETTING_COUNT][HC_SETTING_LINE_MAX]; ///< of settings that were changed
};

/// Opens a reload that is all zeros. It borrows all, `command` and `options` for ever; the workers
/// may be opened later.
void hc_sv_reload_open(struct hc_sv_reload *reload, const struct hc_sv_match_setting *setting,
                       const struct hc_sv_options *command, struct hc_sv_options *options,
                       struct hc_sv_worker *workers);

/// Makes what reads the files. False: no memory or no descriptors.
bool hc_sv_reload_watch(struct hc_sv_reload *reload, struct event_base *base);

/// Opens the log's file again, and reads all files again in threads, first the configuration, which
/// may name other ones. The log says what has changed, what waits for a restart, and what cannot be
/// used. Calls while the files are read cause one more reading.
void hc_sv_reload_start(struct hc_sv_reload *reload);

/// Whether a file is read.
bool hc_sv_reload_runs(const struct hc_sv_reload *reload);

/// Reads the refused users again, if there is a file of them.
void hc_sv_reload_read_refused(struct hc_sv_reload *reload);

/// Puts another --snapshot-rate into force. False: it is above the tick rate, and nothing changes.
bool hc_sv_reload_set_snapshot_rate(struct hc_sv_reload *reload, uint64_t hz);

/// Orders all workers to refuse these users. False: no memory, and nothing changes.
bool hc_sv_reload_refuse(struct hc_sv_reload *reload, const struct hc_sv_refused_file *refused);

/// Frees all.
void hc_sv_reload_close(struct hc_sv_reload *reload);
