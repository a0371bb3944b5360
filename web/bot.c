/// Owns the memory of a bot, and the ticks for which it has chosen.
#include "web/bot.h"

#include "client/shown.h"

#include <stdlib.h>

struct hc_web_bot {
    struct hc_thinker brain;
    hc_tick decided; ///< tick for which it chose last
    bool any;        ///< a tick is decided
};

struct hc_web_bot *hc_web_bot_create(hc_bot_think *think, uint64_t seed, uint32_t number) {
    struct hc_web_bot *bot = calloc(1, sizeof *bot);
    if (bot != NULL)
        hc_thinker_init(&bot->brain, think, seed, number);
    return bot;
}

void hc_web_bot_destroy(struct hc_web_bot *bot) {
    free(bot);
}

void hc_web_bot_play(struct hc_web_bot *bot, struct hc_client *client) {
    uint8_t input[HC_INPUT_MAX];
    const uint8_t *presence, *states;
    hc_tick shown;
    if (hc_client_state(client) != HC_CLIENT_PLAYING || hc_client_player(client, 0) == HC_NO_PLAYER)
        return;
    hc_tick head = hc_timeline_head(hc_client_timeline(client));
    if (bot->any && bot->decided == head)
        return;
    bot->any = true;
    bot->decided = head;
    hc_cl_shown_world(client, &shown, &presence, &states);
    hc_thinker_think(&bot->brain, hc_client_world(client), shown, presence, states,
                     hc_client_player(client, 0), input);
    hc_client_set_input(client, 0, input);
}
