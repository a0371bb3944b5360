/// Bots that play clients: the bots of the game, or random inputs.
#pragma once

#include "common/programs/thinker.h"
#include "hindcast/client.h"

struct hc_web_bot;

/// Creates a bot that thinks as `think` does (NULL: at random), with the random numbers of `seed`
/// and `number`; the caller frees it with hc_web_bot_destroy. NULL: memory is short.
HC_EXPORT struct hc_web_bot *hc_web_bot_create(hc_bot_think *think, uint64_t seed, uint32_t number);

/// Frees a bot; NULL is allowed.
HC_EXPORT void hc_web_bot_destroy(struct hc_web_bot *bot);

/// Lets the bot choose the input of the first player of a client, once for each new tick of a
/// client that plays. Call it before each hc_client_advance.
HC_EXPORT void hc_web_bot_play(struct hc_web_bot *bot, struct hc_client *client);
