/// Owns the tokens at hand, and the request for more.
#include "client/programs/token_feed.h"

#include "common/programs/clock.h"

#include <stdlib.h>

struct hc_cl_token_feed {
    struct hc_cl_udp_peer server;
    const struct hc_cl_tokens_wish *wish;
    uint32_t room, first, count;
    struct hc_cl_token_ask ask;   ///< in progress, or none
    struct hc_credential *tokens; ///< [room] a ring
};

struct hc_cl_token_feed *hc_cl_token_feed_open(const struct hc_cl_udp_peer *server,
                                               const struct hc_cl_tokens_wish *wish,
                                               uint32_t room) {
    struct hc_cl_token_feed *feed = calloc(1, sizeof(*feed));
    if (feed == NULL)
        return NULL;
    *feed = (struct hc_cl_token_feed){.server = *server,
                                      .wish = wish,
                                      .room = room,
                                      .tokens = calloc(room, sizeof(*feed->tokens))};
    if (feed->tokens != NULL)
        return feed;
    free(feed);
    return NULL;
}

void hc_cl_token_feed_close(struct hc_cl_token_feed *feed) {
    if (feed == NULL)
        return;
    hc_cl_token_ask_end(&feed->ask);
    free(feed->tokens);
    free(feed);
}

/// Stores the tokens of a whole answer.
static void store(struct hc_cl_token_feed *feed) {
    struct hc_credential *got = calloc(feed->ask.count, sizeof(*got));
    uint32_t count = 0;
    if (got != NULL)
        count = hc_cl_tokens_parse(feed->ask.answer, got, feed->ask.count);
    for (uint32_t i = 0; i < count; i++)
        feed->tokens[(feed->first + feed->count++) % feed->room] = got[i];
    free(got);
}

void hc_cl_token_feed_fill(struct hc_cl_token_feed *feed) {
    uint64_t now_us = hc_clock_us();
    if (!hc_cl_token_ask_is_active(&feed->ask)) {
        if (feed->count <= feed->room / 2)
            hc_cl_token_ask_begin(&feed->ask, &feed->server, feed->wish, feed->room - feed->count,
                                  now_us);
        return;
    }
    enum hc_cl_token_ask_state state = hc_cl_token_ask_turn(&feed->ask, now_us);
    if (state == HC_CL_TOKEN_ASK_WAITS)
        return;
    if (state == HC_CL_TOKEN_ASK_ANSWERED)
        store(feed);
    hc_cl_token_ask_end(&feed->ask);
}

bool hc_cl_token_feed_take(struct hc_cl_token_feed *feed, struct hc_credential *token) {
    if (feed->count == 0)
        return false;
    *token = feed->tokens[feed->first];
    feed->first = (feed->first + 1) % feed->room;
    feed->count--;
    return true;
}
