/// What games say to one another beside the world: that either side hears every word of the other
/// once and in order, as long as the connection goes on, and all of them when the links are clean.
#pragma once

#include "hindcast/client.h"

#include <stdint.h>

struct storm_match;

/// A client's process and what it says: as long as it is told that its connection goes on, its
/// words are one row.
struct storm_talk_seat {
    uint32_t row;   ///< number of the row, from 1; of this seat
    uint32_t said;  ///< words of it
    uint32_t root;  ///< cid of the connection with which the words that it hears began; 0: none
    uint32_t heard; ///< of them
    uint64_t turn;  ///< when it could speak last; ticks of the simulation
};

/// The same at the server, of the connection with which the rows began.
struct storm_talk_conn {
    uint32_t said;
    uint32_t row; ///< of its client's rows that which it hears; 0: it has heard nothing
    uint32_t heard;
};

/// A client has been created.
void storm_talk_created(struct storm_match *match, unsigned client);

/// A client tells an event.
void storm_talk_event(struct storm_match *match, unsigned client,
                      const struct hc_client_event *event);

/// A client has received or has advanced, the server has ticked: they hear, and say something.
void storm_talk_client(struct storm_match *match, unsigned client);
void storm_talk_host(struct storm_match *match);

/// At the match's end all has been heard.
void storm_talk_end(struct storm_match *match);
