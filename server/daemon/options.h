/// The settings of hindcastd, from its command line and its configuration files.
#pragma once

#include "common/programs/plugin.h"
#include "server/daemon/settings.h"

/// The numbers of the settings.
enum hc_sv_setting {
#define HC_SV_SETTING_ENUM(type, member, ...) HC_SV_SETTING_##member,
    HC_SV_SETTINGS(HC_SV_SETTING_ENUM) HC_SV_SETTING_COUNT
};

struct hc_sv_activation;

struct hc_sv_options {
#define HC_SV_SETTING_MEMBER(type, member, ...) type member;
    HC_SV_SETTINGS(HC_SV_SETTING_MEMBER)
    bool given[HC_SV_SETTING_COUNT]; ///< whether the command line or a file sets it
    struct hc_plugin plugin;         ///< the loaded game
    /// The sockets that the service manager passes; NULL: there are none.
    const struct hc_sv_activation *activation;
};

extern const struct hc_setting hc_sv_settings[HC_SV_SETTING_COUNT];

/// The settings that the worker of a match reads while it plays.
struct hc_sv_play_settings {
    HC_SV_SETTINGS_OF_SERVER(HC_SV_SETTING_MEMBER)
    uint16_t force_rewind_match;
    uint64_t status_every_us;
};

/// One reading of the configuration files, with the command line over them. Its options have texts
/// in it.
struct hc_sv_reading {
    struct hc_sv_options options;
    struct hc_setting_faults faults;
    struct hc_setting_place places[HC_SV_SETTING_COUNT];
    char texts[HC_SV_SETTING_COUNT][HC_SETTING_LINE_MAX];
    bool changed[HC_SV_SETTING_COUNT]; ///< settings with another value than those that are in force
    bool waits[HC_SV_SETTING_COUNT];   ///< settings that would have, but only a restart applies it
};

/// The defaults, without a game.
struct hc_sv_options hc_sv_options_default(void);

/// Parses the arguments into `command`, over the defaults, reads the files that they name, and
/// loads the game. On --help and --version it prints and exits with 0. On errors it prints a line
/// for each, with the option or the line, the value and the allowed range, and exits with 2.
void hc_sv_options_parse(struct hc_sv_options *command, struct hc_sv_reading *reading, int argc,
                         char **argv);

/// The command `hindcastd config`: parses the arguments in the same way, but without a key, prints
/// all settings as a configuration file, and exits.
_Noreturn void hc_sv_options_print(int argc, char **argv);

/// Reads the files of `command` again. `now` has the options that are in force, whose game stays,
/// and whose values stay where a change waits for a restart.
void hc_sv_options_read(const struct hc_sv_options *command, const struct hc_sv_options *now,
                        struct hc_sv_reading *reading);

/// The settings for the workers.
struct hc_sv_play_settings hc_sv_options_play(const struct hc_sv_options *options);

/// Copies the settings of match `number` to the configuration of its server.
void hc_sv_options_configure(const struct hc_sv_play_settings *settings, uint16_t number,
                             struct hc_server_config *config);
