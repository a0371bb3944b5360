"""The mistakes of faults.py that concern game events."""

from planting import Fault

EVENT_FAULTS = {
    "event-shown-again": Fault(
        "client/world/game_events.c",
        "an event that is predicted already is shown again when its tick is simulated again",
        "    if (find(events, event) < events->count)\n        return;\n",
        "",
        found_by="scenario_game_events",
    ),
    "event-before-shown": Fault(
        "client/world/game_events.c",
        "an event is delivered before its tick is shown",
        "    if (game->event_kinds[hc_game_event_kind(event->event)].at_once)\n",
        "    if (game != NULL)\n",
        found_by="scenario_game_events",
    ),
    "event-never-cancelled": Fault(
        "client/world/game_events.c",
        "a predicted event that did not happen stays",
        "    if (event->phase == HC_CL_EVENT_DELIVERED)\n"
        "        queue(events, HC_CLIENT_GAME_EVENT_CANCELLED, event, stats);\n",
        "    (void)events, (void)event, (void)stats;\n",
        found_by="scenario_game_events",
    ),
    "event-counted-again": Fault(
        "server/replication/listing.c",
        "an event that is left out counts once for each snapshot that lists its tick",
        "        if (tick < listing->counted)\n            continue;\n",
        "",
        found_by="scenario_game_events",
    ),
    "event-taken-back-shown": Fault(
        "client/world/game_events.c",
        "an event that the timeline takes back before it is shown is delivered all the same",
        "        take_back(events, timeline, t);\n",
        "",
        found_by="unit_client_game_events",
    ),
    "early-list-older-counts": Fault(
        "client/world/game_events.c",
        "an early list that a newer one has overtaken replaces it",
        "events->early[tick % HC_GAME_EVENTS_TICKS].as_of >= as_of))",
        "events->early[tick % HC_GAME_EVENTS_TICKS].as_of == as_of))",
        found_by="unit_client_game_events",
    ),
    "early-list-kept-on": Fault(
        "client/world/game_events.c",
        "an event that waits stays although a newer early list lacks it",
        "        if (events->kept[i].tick == tick && events->kept[i].phase == HC_CL_EVENT_EARLY)\n",
        "        if (events->kept[i].tick == tick && false)\n",
        found_by="unit_client_game_events",
    ),
    "early-event-of-final-kind": Fault(
        "server/replication/event_ring.c",
        "an event of a kind that waits for the final tick is listed before it",
        "if (final || !kinds[hc_game_event_kind(events[i])].final_only)",
        "if (final || kinds != NULL)",
        found_by="hc_storm 61..61",
    ),
    "early-list-lost": Fault(
        "server/replication/early.c",
        "an early list whose datagram is lost is not sent again",
        "(entry->carried & ~log->lost) != 0",
        "(entry->carried & ~(log->lost & 0)) != 0",
        found_by="unit_server_replication",
    ),
    "early-list-after-rewind": Fault(
        "server/replication/early.c",
        "an early list is not sent anew when a rewind has changed the events of its tick",
        "(entry->version != version || !has(builder, entry))",
        "!has(builder, entry)",
        found_by="unit_server_replication",
    ),
    "early-list-of-shown-tick": Fault(
        "server/replication/early.c",
        "a state is sent without its events if they are under way",
        "(entry->tick != builder->header.tick && ",
        "(entry->held == false && ",
        found_by="unit_server_replication",
    ),
}
