/// Owns the tokens at hand, and the request for more.
#include "client/bots/token_feed.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>

enum { ANSWER_S = 5 }; ///< longest time without a byte of an answer

struct hc_cl_token_feed {
    struct event_base *base;
    struct hc_cl_udp_peer server;
    const struct hc_cl_tokens_wish *wish;
    uint32_t room, first, count, wanted; ///< `wanted`: of the request in progress
    struct bufferevent *request;         ///< NULL: none is in progress
    struct hc_credential *tokens;        ///< [room] a ring
};

struct hc_cl_token_feed *hc_cl_token_feed_open(struct event_base *base,
                                               const struct hc_cl_udp_peer *server,
                                               const struct hc_cl_tokens_wish *wish,
                                               uint32_t room) {
    struct hc_cl_token_feed *feed = calloc(1, sizeof(*feed));
    if (feed == NULL)
        return NULL;
    *feed = (struct hc_cl_token_feed){.base = base,
                                      .server = *server,
                                      .wish = wish,
                                      .room = room,
                                      .tokens = calloc(room, sizeof(*feed->tokens))};
    if (feed->tokens != NULL)
        return feed;
    free(feed);
    return NULL;
}

static void end_request(struct hc_cl_token_feed *feed) {
    if (feed->request != NULL)
        bufferevent_free(feed->request);
    feed->request = NULL;
}

void hc_cl_token_feed_close(struct hc_cl_token_feed *feed) {
    if (feed == NULL)
        return;
    end_request(feed);
    free(feed->tokens);
    free(feed);
}

/// Stores the tokens of a whole answer.
static void store(struct hc_cl_token_feed *feed) {
    struct hc_credential *got = calloc(feed->wanted, sizeof(*got));
    struct evbuffer *answer = bufferevent_get_input(feed->request);
    evbuffer_add(answer, "", 1); // ends the text
    uint32_t count = 0;
    if (got != NULL)
        count = hc_cl_tokens_parse((const char *)evbuffer_pullup(answer, -1), got, feed->wanted);
    for (uint32_t i = 0; i < count; i++)
        feed->tokens[(feed->first + feed->count++) % feed->room] = got[i];
    free(got);
}

/// The request has ended: the answer is whole, or it failed.
static void on_end(struct bufferevent *request, short what, void *context) {
    struct hc_cl_token_feed *feed = context;
    (void)request;
    if ((what & BEV_EVENT_CONNECTED) != 0)
        return;
    if ((what & BEV_EVENT_EOF) != 0)
        store(feed);
    end_request(feed);
}

void hc_cl_token_feed_fill(struct hc_cl_token_feed *feed) {
    const struct timeval most = {.tv_sec = ANSWER_S};
    char text[HC_CL_TOKENS_REQUEST_SIZE];
    if (feed->request != NULL || feed->count > feed->room / 2)
        return;
    feed->request = bufferevent_socket_new(feed->base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (feed->request == NULL)
        return;
    feed->wanted = feed->room - feed->count;
    int size = hc_cl_tokens_write_request(feed->wish, feed->wanted, text);
    bufferevent_setcb(feed->request, NULL, NULL, on_end, feed);
    bufferevent_set_timeouts(feed->request, &most, &most);
    bufferevent_enable(feed->request, EV_READ);
    if (bufferevent_write(feed->request, text, (size_t)size) != 0 ||
        bufferevent_socket_connect(feed->request, (struct sockaddr *)&feed->server.address,
                                   (int)feed->server.length) != 0)
        end_request(feed);
}

bool hc_cl_token_feed_take(struct hc_cl_token_feed *feed, struct hc_credential *token) {
    if (feed->count == 0)
        return false;
    *token = feed->tokens[feed->first];
    feed->first = (feed->first + 1) % feed->room;
    feed->count--;
    return true;
}
