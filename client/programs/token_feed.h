/// Tokens for clients that join again, requested from a `hindcastd --dev` on this machine shortly
/// before they are needed: a server that forgets the users of old tokens refuses all that old.
///
/// It never blocks.
#pragma once

#include "client/programs/tokens.h"

struct hc_cl_token_feed;

/// A feed of at most `room` tokens at hand, at most HC_CL_TOKEN_ASK_COUNT_MAX; `wish` is borrowed.
/// NULL: no memory.
struct hc_cl_token_feed *hc_cl_token_feed_open(const struct hc_cl_udp_peer *server,
                                               const struct hc_cl_tokens_wish *wish, uint32_t room);

/// Frees it; NULL is allowed.
void hc_cl_token_feed_close(struct hc_cl_token_feed *feed);

/// Requests tokens when fewer than half of the room are at hand, and reads the answer. Call it
/// often, at least 20 times a second; a request that failed is repeated.
void hc_cl_token_feed_fill(struct hc_cl_token_feed *feed);

/// Takes the oldest token; false: none is at hand yet.
bool hc_cl_token_feed_take(struct hc_cl_token_feed *feed, struct hc_credential *token);
