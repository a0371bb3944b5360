/// The command lines of hindcast-bot, hindcast-load and hindcast-view, which share most of their
/// options.
#pragma once

#include "client/programs/settings.h"
#include "client/programs/tokens.h"
#include "client/programs/words.h"
#include "common/programs/plugin.h"

/// The numbers of the settings.
enum hc_cl_setting {
#define HC_CL_SETTING_ENUM(type, member, ...) HC_CL_SETTING_##member,
    HC_CL_SETTINGS(HC_CL_SETTING_ENUM) HC_CL_SETTING_COUNT
};

struct hc_cl_options {
#define HC_CL_SETTING_MEMBER(type, member, ...) type member;
    HC_CL_SETTINGS(HC_CL_SETTING_MEMBER)
    bool given[HC_CL_SETTING_COUNT]; ///< whether the command line sets it

    // These members follow from the settings.
    char host[256], port[6];                       ///< of the server; empty with `spawn`
    struct hc_network_sim_config link, right_link; ///< of each direction
    struct hc_client_timing timing;                ///< input delay and lead
    struct hc_cl_words server_words;               ///< of `server_args`, never freed
    uint32_t last_step;            ///< clients of the last step; 0: the first that is not held
    struct hc_cl_tokens_wish wish; ///< of the tokens that the server issues
    uint32_t token_first;          ///< tokens of the file that were used before
    struct hc_plugin plugin;       ///< the loaded game
};

extern const struct hc_setting hc_cl_settings[HC_CL_SETTING_COUNT];

/// The defaults of a program.
struct hc_cl_options hc_cl_options_default(enum hc_cl_options_program program);

/// Parses the arguments over the program's defaults. `clients` are those of any program, and
/// `link_name` is NULL unless the link is an unchanged preset. On --help and --version it prints
/// and exits with 0. On an error it names the option, the value and the allowed range, and exits
/// with 2.
void hc_cl_options_parse(struct hc_cl_options *options, enum hc_cl_options_program program,
                         int argc, char **argv);
