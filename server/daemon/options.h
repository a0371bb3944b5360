/// The command line of hindcastd.
#pragma once

#include "common/programs/plugin.h"
#include "server/daemon/settings.h"

/// The numbers of the settings.
enum hc_sv_setting {
#define HC_SV_SETTING_ENUM(type, member, ...) HC_SV_SETTING_##member,
    HC_SV_SETTINGS(HC_SV_SETTING_ENUM) HC_SV_SETTING_COUNT
};

struct hc_sv_options {
#define HC_SV_SETTING_MEMBER(type, member, ...) type member;
    HC_SV_SETTINGS(HC_SV_SETTING_MEMBER)
    bool given[HC_SV_SETTING_COUNT]; ///< whether the command line sets it
    struct hc_plugin plugin;         ///< the loaded game
};

extern const struct hc_setting hc_sv_settings[HC_SV_SETTING_COUNT];

/// The defaults, without a game.
struct hc_sv_options hc_sv_options_default(void);

/// Parses the arguments over the defaults, and loads the game. On --help, --version and
/// --print-config it prints and exits with 0. On an error it names the option, the value and the
/// allowed range, and exits with 2.
void hc_sv_options_parse(struct hc_sv_options *options, int argc, char **argv);

/// Copies the settings of a server to its configuration.
void hc_sv_options_configure(const struct hc_sv_options *options, struct hc_server_config *config);
