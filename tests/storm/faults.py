#!/usr/bin/env python3
"""Mistakes of the kinds that netcode really has. tests/planted.py plants each, and a test must find it.

    faults.py      checks that each has its place in the sources
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))
from event_faults import EVENT_FAULTS  # noqa: E402
from planting import Fault, check_places  # noqa: E402

FAULTS = {
    **EVENT_FAULTS,
    # ---- Inputs that are through ----
    "complete-plus-one": Fault(
        "common/timeline.c",
        "A(p) is one tick too new: a missing input counts as known",
        "    return tl->inputs.inputs_through[player];\n",
        "    return tl->inputs.inputs_through[player] + 1;\n",
        found_by="unit_timeline",
    ),
    "complete-over-gap": Fault(
        "common/inputs.c",
        "A(p) passes a missing input when the one after it is known",
        "        if (slot != HC_SLOT_KNOWN && slot != HC_SLOT_FORCED)\n"
        "            return;\n",
        "        if (slot != HC_SLOT_KNOWN && slot != HC_SLOT_FORCED &&\n"
        "            (next == in->last ||\n"
        "             in->slot[hc_inputs_cell(in, player, next + 1)] != HC_SLOT_KNOWN))\n"
        "            return;\n",
        found_by="unit_timeline",
    ),
    "acknowledged-plus-one": Fault(
        "client/link/newest.c",
        "the client takes one input too many for acknowledged, and does not send it again",
        "        wanted = hc_tick_min(wanted, snapshot->inputs_through[i] + 1);\n",
        "        wanted = hc_tick_min(wanted, snapshot->inputs_through[i] + 2);\n",
        found_by="unit_client_link",
    ),
    "snapshot-of-wrong-player": Fault(
        "server/replication/look.c",
        "T waits for the inputs of other players than the client's own",
        "hc_timeline_inputs_through(timeline, client->own[i]) + 1);\n"
        "    return tick;\n",
        "hc_timeline_inputs_through(timeline, (hc_player)i) + 1);\n"
        "    return tick;\n",
        found_by="scenario_schedule",
    ),
    "snapshot-plus-one": Fault(
        "server/replication/look.c",
        "T is one tick too new: it lacks the client's own last inputs",
        "hc_timeline_inputs_through(timeline, client->own[i]) + 1);\n"
        "    return tick;\n",
        "hc_timeline_inputs_through(timeline, client->own[i]) + 2);\n"
        "    return tick;\n",
        found_by="scenario_forwarded_inputs",
    ),
    "final-not-minimum": Fault(
        "server/ticks.c",
        "F follows the last player instead of the one that is farthest behind",
        "            final = hc_tick_min(final, hc_timeline_inputs_through(server->timeline, p) + 1);\n",
        "            final = hc_tick_min(head, hc_timeline_inputs_through(server->timeline, p) + 1);\n",
        found_by="scenario_forwarded_inputs",
    ),
    # ---- Inputs ----
    "last-write-wins": Fault(
        "common/inputs.c",
        "an input that arrives after its slot was closed takes effect",
        "    if (in->slot[cell] != HC_SLOT_UNKNOWN)\n"
        "        return HC_DUPLICATE;\n",
        "",
        found_by="unit_timeline",
    ),
    "base-across-join": Fault(
        "common/inputs.c",
        "a prediction starts from an input from before the leave and the next join",
        "    if (in->roster_change[cell] != HC_ROSTER_NONE)\n"
        "        return HC_NO_TICK;\n"
        "    return has_base",
        "    return has_base",
        found_by="scenario_forwarded_inputs",
    ),
    "leave-forces-nothing": Fault(
        "common/inputs.c",
        "a leave does not close the slots before it",
        "    else if (hc_inputs_force(in, player, tick + 1) > 0)\n",
        "    else if (false)\n",
        found_by="unit_timeline",
    ),
    "age-not-renewed": Fault(
        "common/inputs.c",
        "a late input that equals its prediction does not even renew its age",
        "    refresh(in, player, tick);\n"
        "    if (!in->replica)\n"
        "        renew_inputs_through(in, player);\n",
        "    if (tick >= in->head ||\n"
        "        memcmp(in->effective + cell * input_size(in), input, input_size(in)) != 0)\n"
        "        refresh(in, player, tick);\n"
        "    if (!in->replica)\n"
        "        renew_inputs_through(in, player);\n",
        found_by="unit_timeline",
    ),
    "window-closes-early": Fault(
        "server/ticks.c",
        "inputs are forced a tick before they leave the window",
        "            hc_sv_inputs_force(server, peer, p, head - late_limit + 1, HC_SV_INPUTS_LATE);\n",
        "            hc_sv_inputs_force(server, peer, p, head - late_limit + 2, HC_SV_INPUTS_LATE);\n",
        found_by="scenario_inputs",
    ),
    "stamped-twice": Fault(
        "client/predict.c",
        "after a stall some ticks get their inputs a second time",
        "        hc_cl_timing_resume(timing);\n",
        "        if (timing->stalled)\n"
        "            client->link.inputs.any = false;\n"
        "        hc_cl_timing_resume(timing);\n",
        found_by="hc_storm 1..1",
    ),
    "stamps-skipped": Fault(
        "client/link/inputs.c",
        "after a leap the client does not fill the gap in its inputs",
        "    for (hc_tick tick = first; tick < end; tick++)\n"
        "        stamp(inputs, tick, true, shown);\n",
        "    first = end;\n",
        found_by="unit_client_inputs",
    ),
    "forgotten-before-sent": Fault(
        "client/link/sending.c",
        "with a fixed redundancy an input that was never sent is not sent any more",
        "            hc_tick_max(wanted, hc_tick_min(sending->unsent, hc_tick_back(next, redundancy)));\n",
        "            hc_tick_max(wanted, hc_tick_back(next, redundancy));\n",
        found_by="unit_client_inputs",
    ),
    "margin-when-read": Fault(
        "server/receive.c",
        "a margin is measured by the newest datagram to the client if that is later than the arrival",
        "    apply(server, peer, from, &received, now_us);\n",
        "    received.arrived_us = now_us;\n"
        "    apply(server, peer, from, &received, now_us);\n",
        found_by="unit_server_arrival",
    ),
    "margin-of-repeats": Fault(
        "server/margin.c",
        "inputs that came before count again for the margin when they are repeated",
        "    if (margin->any && newest <= margin->newest)\n"
        "        return;\n",
        "",
        found_by="unit_server_margin",
    ),
    "margin-of-the-worst": Fault("server/margin.c", "one delayed datagram lowers the low margin",
        "margin->count * HC_MARGIN_WORST_PERCENT / 100", "0", found_by="unit_server_margin"),
    "margin-without-end": Fault(
        "server/margin.c",
        "a margin counts for more than its window",
        "HC_MARGIN_WINDOW_US)\n",
        "2 * HC_MARGIN_WINDOW_US)\n",
        found_by="unit_server_margin",
    ),
    # ---- The spread of a change ----
    "old-position": Fault(
        "common/spread.c",
        "the entities near an old position are not stepped again",
        "        if (move->had && is_near(tl, row->grid, row->states, e, move->from))\n"
        "            set_bit(row->again, e);\n",
        "",
        found_by="scenario_foreign_inputs",
    ),
    "pins-overwritten": Fault(
        "common/stepping.c",
        "a change of an earlier tick overwrites a received state",
        "        if (authoritative != NULL) {\n",
        "        if (authoritative != NULL && false) {\n",
        found_by="scenario_corrections_window",
    ),
    "older-replaces-newer": Fault(
        "common/timeline.c",
        "an overtaken snapshot replaces the state of a newer one",
        "        if (*held != HC_NO_TICK && *held >= as_of)\n"
        "            continue;\n",
        "",
        found_by="hc_storm 13..13",
    ),
    "referee-readers": Fault(
        "common/spread.c",
        "readers of a changed group of the referee are not stepped again",
        "        mark_readers(tl, row, was == is ? changed_groups(tl, old, new) : UINT8_MAX);\n",
        "        (void)mark_readers, (void)changed_groups, (void)old, (void)new;\n",
        found_by="unit_timeline",
    ),
    "neighbour-order": Fault(
        "common/spread.c",
        "neighbours come in the order of the index",
        "        for (; to > 0 && near[to - 1] > e; to--)\n"
        "            near[to] = near[to - 1];\n",
        "",
        found_by="exact_histories 30",
    ),
    # ---- Snapshots ----
    "compared-before-rewind": Fault(
        "server/replication/values.c",
        "a sent value is not compared anew after a rewind has changed it",
        "    if (newest->compared == row->head + 1 &&",
        "    if (newest->compared > row->tick &&",
        found_by="unit_server_values",
    ),
    "hash-without-field": Fault(
        "common/game.c",
        "the hash of a world leaves out the last field of each entity",
        "            length += kind->state_size;\n",
        "            length += kind->state_size - 1u;\n",
        found_by="unit_game",
    ),
    "hash-over-padding": Fault(
        "common/game.c",
        "the hash of a world takes in bytes that belong to no field",
        "        hash = XXH3_64bits_withSeed(bytes, length, hash);\n",
        "        hash = XXH3_64bits_withSeed(bytes, length > 1 ? sizeof bytes : length, hash);\n",
        found_by="unit_game",
    ),
    "field-not-sent": Fault(
        "proto/value.c",
        "the last field of an entity is never sent",
        "        out->entities |= (uint32_t)(!stays ||",
        "        out->entities |= i > 1 ? 0 : (uint32_t)(!stays ||",
        found_by="unit_proto_value",
    ),
    "forced-forgotten": Fault(
        "server/replication/lists.h",
        "only one range of forced inputs is remembered",
        "HC_SV_FORCED_RANGES = HC_SNAPSHOT_FORCED_SENT }",
        "HC_SV_FORCED_RANGES = 1 }",
        found_by="unit_server_peer",
    ),
    "forced-not-sent": Fault(
        "server/replication/lists.c",
        "a client is never sent the ranges of its forced inputs",
        "    gather_forced(builder);\n",
        "    (void)gather_forced;\n"
        "    builder->lists.forced_count = 0;\n",
        found_by="unit_server_replication",
    ),
    "roster-change-late": Fault(
        "server/replication/lists.c",
        "a roster change of the very tick of a snapshot is not sent",
        "        if (received && change->tick < tick)\n",
        "        if (change->tick == tick || received)\n",
        found_by="unit_server_replication",
    ),
    "roster-change-sent-once": Fault(
        "server/replication/lists.c",
        "a roster change counts as received as soon as it was sent",
        "(lists->carried[at] & sent_log->acked) != 0;\n",
        "lists->carried[at] != 0;\n",
        found_by="unit_server_replication",
    ),
    "inputs-late": Fault(
        "proto/snapshot.c",
        "inputs of others are sent from the tick after the snapshot's on",
        "    const hc_tick from = wanted->first;\n",
        "    const hc_tick from = hc_tick_max(wanted->first, value->tick + 1);\n",
        found_by="unit_proto_snapshot",
    ),
    "inputs-between": Fault(
        "server/replication/snapshot.c",
        "below the tick rate, the inputs since the snapshot before are not sent",
        "    builder->header.inputs_before = each_tick ? 0 : ticks_between(builder->timeline, client, tick);\n",
        "    builder->header.inputs_before = 0 * ticks_between(builder->timeline, client, tick) * each_tick;\n",
        found_by="scenario_low_rates",
    ),
    "corrected-never": Fault(
        "server/replication/corrections.c",
        "a sent past tick is not corrected, even when a rewind has changed it",
        "        if (hc_sv_values_alike(values, unit, held.value_id, now) ||",
        "        if (held.value_id != 0 ||\n"
        "            hc_sv_values_alike(values, unit, held.value_id, now) ||",
        found_by="scenario_corrections",
    ),
    "sent-never-lost": Fault(
        "server/replication/sent_log.c",
        "the values of a lost datagram count as held for ever",
        "    sent_log->lost |= bit(place);\n",
        "    (void)bit(place);\n",
        found_by="unit_server_sent_log",
    ),
    # ---- Baselines, interest and bandwidth ----
    "baseline-is-sent": Fault(
        "server/replication/snapshot.c",
        "the baseline is the last value sent, arrived or not",
        "    log_units(builder);\n",
        "    log_units(builder);\n"
        "    (void)hc_sv_sent_log_acked(\n"
        "        &builder->client->sent_log,\n"
        "        builder->client->sent_log.seq[builder->client->sent_log.newest]);\n",
        found_by="scenario_big_state",
    ),
    "baseline-rewritten": Fault(
        "server/replication/values.c",
        "the baseline follows the timeline",
        "    newest->changed = row->head;\n"
        "    value->id = newest->id = values->next;\n",
        "    bool anew = newest->id == 0 || hc_sv_values_get(values, newest->id) == NULL;\n"
        "    value = anew ? value : value_at(values, newest->id);\n"
        "    newest->changed = row->head;\n"
        "    if (anew) {\n"
        "        value->id = newest->id = values->next;\n"
        "    }\n",
        found_by="unit_server_values",
    ),
    "delta-cache-without-base": Fault(
        "server/replication/deltas.c",
        "a delta is used again for clients that have another baseline",
        "entry->key.base == key->base &&",
        "(entry->key.base == 0) == (key->base == 0) &&",
        found_by="unit_server_deltas",
    ),
    "drop-not-sent": Fault(
        "server/replication/snapshot.c",
        "a unit that leaves the interest set is not dropped",
        "        bool gathered = hc_sv_slot_sees(slot) || state.known;\n",
        "        bool gathered = hc_sv_slot_sees(slot);\n",
        found_by="hc_storm 6..6",
    ),
    "drop-sent-once": Fault(
        "server/replication/sent_log.c",
        "a lost drop is not sent again",
        "    hc_sv_places sent = (items->values | items->drops) & ~sent_log->lost;\n",
        "    hc_sv_places sent = (items->values & ~sent_log->lost) | items->drops;\n",
        found_by="unit_server_sent_log",
    ),
    "dropped-stays": Fault(
        "client/world/world.c",
        "a dropped unit stays in the client's world",
        "        if (received->correction != corrections)\n",
        "        if (received->correction != corrections || received->dropped)\n",
        found_by="unit_client_receive",
    ),
    "sees-too-far": Fault(
        "server/replication/interest.c",
        "a unit stays in the interest set until it is twice as far as the view",
        "    return was ? view + view / 4 : view;\n",
        "    return was ? view * 2 : view;\n",
        found_by="unit_server_interest",
    ),
    "sees-too-little": Fault(
        "server/replication/interest.c",
        "a unit comes into the interest set only at half of the view",
        "    return was ? view + view / 4 : view;\n",
        "    return was ? view + view / 4 : view / 2;\n",
        found_by="unit_server_interest",
    ),
    "looks-seldom": Fault(
        "server/replication/look.c",
        "the interest set is renewed at every 64 ticks only",
        "enum { INTEREST_TICKS = 8 };",
        "enum { INTEREST_TICKS = 64 };",
        found_by="unit_server_host",
    ),
    "budget-not-spent": Fault(
        "server/replication/snapshot.c",
        "a sent datagram does not use up bandwidth",
        "    hc_sv_bandwidth_spend(&client->bandwidth, (uint32_t)body->at);\n",
        "",
        found_by="unit_server_replication",
    ),
    "budget-without-headers": Fault(
        "server/replication/bandwidth.c",
        "headers use no bandwidth",
        "    bandwidth->saved -= ((int64_t)bytes + HC_SV_BANDWIDTH_OVERHEAD) * MICRO;\n",
        "    bandwidth->saved -= (int64_t)bytes * MICRO;\n",
        found_by="unit_server_bandwidth",
    ),
    "snapshots-at-half-rate": Fault(
        "server/ticks.c",
        "only every other tick that is due has a snapshot",
        "        peer->snapshot_due = true;\n        peer->snapshot_credit = 0;\n",
        "        peer->snapshot_due = hc_timeline_head(server->timeline) % 2 == 0;\n",
        found_by="scenario_forwarded_inputs",
    ),
    "unit-skipped": Fault(
        "server/replication/snapshot.c",
        "an unchanged unit is not sent, and the client's extrapolation of it not corrected",
        "        selections[i].chosen = fits && !selections[i].waits;\n",
        "        selections[i].chosen = fits && !selections[i].waits &&\n"
        "                               (selections[i].delta != 1 || selections[i].name.unit <= 1);\n",
        found_by="scenario_npcs",
    ),
    "run-of-another-input": Fault(
        "common/runs.c",
        "an extrapolation goes on along a run that another input of the owner gave",
        "hc_mix(hc_mix(hc_mix(walk->runs->referee_hash, walk->unit), words[0]), words[1]) | 1;\n",
        "hc_mix(walk->runs->referee_hash, walk->unit) | (words[0] & 0) | 1;\n",
        found_by="scenario_schedule",
    ),
    "inputs-cut": Fault(
        "server/replication/builder.h",
        "only the nearest two inputs of others are sent",
        ".end = header->tick + after};\n",
        ".end = header->tick + (after < 2 ? after : 2)};\n",
        found_by="scenario_npcs",
    ),
    "corrections-late": Fault(
        "server/replication/corrections.c",
        "the oldest three ticks that may be shown are not corrected",
        "    return hc_tick_max(oldest, hc_tick_back(own, client->display_offset + 1));\n",
        "    return hc_tick_max(oldest, hc_tick_back(own, client->display_offset + 1) + 3);\n",
        found_by="scenario_corrections_window",
    ),
    "corrections-always": Fault(
        "server/replication/corrections.c",
        "corrections are sent again at every tick",
        "        if (hc_sv_values_alike(values, unit, held.value_id, now) ||",
        "        if ((hc_sv_values_alike(values, unit, held.value_id, now) &&\n"
        "             held.as_of != HC_NO_TICK) ||",
        found_by="unit_server_replication",
    ),
    "reader-forgets": Fault(
        "client/world/snapshot_reader.c",
        "an acknowledged snapshot is not kept as a baseline",
        "        if (!snapshot->values[i].dropped)\n",
        "        if (!snapshot->values[i].dropped && snapshot->header.as_of % 16 != 0)\n",
        found_by="unit_client_snapshot_reader",
    ),
    # ---- Connections and time ----
    "replay-marks-stay": Fault(
        "proto/ack.c",
        "marks of a ring ago stay, so that new datagrams count as duplicates",
        "        uint32_t words = seq / 32 - received->newest / 32;\n",
        "        uint32_t words = (seq - 1) / 32 - received->newest / 32;\n",
        found_by="unit_proto_ack",
    ),
    "replay-not-checked": Fault(
        "proto/ack.c",
        "a datagram that arrives twice is accepted twice",
        "    return is_marked(received, seq) ? HC_DUPLICATE : HC_OK;\n",
        "    return HC_OK;\n",
        found_by="unit_proto_ack",
    ),
    "window-plus-one": Fault(
        "proto/ack.c",
        "the window is one too long: a datagram just behind it is accepted",
        "    if (received->newest - seq >= HC_RECEIVED_WINDOW)\n",
        "    if (received->newest - seq > HC_RECEIVED_WINDOW)\n",
        found_by="unit_proto_ack",
    ),
    "ack-of-unsent": Fault(
        "proto/ack.c",
        "an acknowledgement of an unsent datagram is accepted",
        "    if (!acks_possible(sent, ack, ack_bits))\n",
        "    if (!acks_possible(sent, ack, ack_bits) && ack == 0)\n",
        found_by="unit_proto_ack",
    ),
    "proof-not-checked": Fault(
        "server/admission.c",
        "a copied token admits a client without its secret",
        "    attempt->proven = status == HC_OK;\n",
        "    status = HC_OK;\n"
        "    attempt->proven = true;\n",
        found_by="unit_server_admission",
    ),
    "messages-acknowledge-all": Fault(
        "server/replication/sent_log.c",
        "the ack of a datagram without a snapshot counts for the snapshot before it",
        "            return sent_log->seq[place] == seq ? place : HC_SV_PLACES;\n",
        "            return place;\n",
        found_by="unit_server_sent_log",
    ),
    "attempt-again": Fault(
        "server/admission.c",
        "a late CONNECT of an attempt that has ended is admitted again",
        "    if (hc_sv_clients_has_ended(clients, client_id, connect->client_nonce, now_us))\n",
        "    if (now_us == 0 && hc_sv_clients_has_ended(clients, client_id, connect->client_nonce, now_us))\n",
        found_by="unit_server_admission",
    ),
    # ---- Lag compensation, and what is shown ----
    "shown-tick-of-own": Fault(
        "client/predict.c",
        "an input tells when its player was shown itself, not when it was shown the others",
        ".others = hc_tick_max(hc_tick_back(head, behind.others), behind.oldest)",
        ".others = hc_tick_max(hc_tick_back(head, behind.own), behind.oldest)",
        found_by="scenario_aim",
    ),
    "own-shown-tick-of-others": Fault(
        "client/predict.c",
        "an input tells when its player was shown the others, not when it was shown itself",
        ".own = hc_tick_max(hc_tick_back(head, behind.own), behind.oldest)",
        ".own = hc_tick_max(hc_tick_back(head, behind.others), behind.oldest)",
        found_by="scenario_aim",
    ),
    "shown-tick-unlimited": Fault(
        "server/inputs.c",
        "a client may claim to have been shown any old tick",
        "hc_tick_back(acked, client->display_offset + 1);",
        "hc_tick_back(acked, client->display_offset + 100);",
        found_by="scenario_aim",
    ),
    "own-shown-tick-unlimited": Fault(
        "common/input_fields.c",
        "a client may claim to have been shown itself any old tick",
        "    if (own_field != NULL && hc_field_get(own_field, input) > hc_field_get(field, input))\n",
        "    if (own_field != NULL && hc_field_get(own_field, input) > game->lookback)\n",
        found_by="unit_game",
    ),
    "display-offset-of-own": Fault(
        "client/predict.c",
        "a client reports how late it shows itself, not the others",
        ".farthest = hc_cl_display_farthest(&world->display, head)",
        ".farthest = world->display.offset",
        found_by="scenario_aim",
    ),
    "others-not-late-enough": Fault(
        "client/world/display.c",
        "others are shown a tick before their states come",
        "    return largest[LATE];\n",
        "    return largest[LATE] > 0 ? largest[LATE] - 1u : 0;\n",
        found_by="unit_client_display",
    ),
    "others-corrected-as-own": Fault(
        "client/world/interpolation.c",
        "a correction of others is compared with the tick of the own players",
        "correct_range(interpolation, &was, range.own ? &own : &others, &range,",
        "correct_range(interpolation, &was, range.own ? &others : &own, &range,",
        found_by="unit_client_interpolation",
    ),
    # ---- Names ----
    "name-sent-once": Fault(
        "server/names.c",
        "a name whose datagram was lost is not sent again",
        "            slot->name.acked = numbers == NULL;\n",
        "            slot->name.acked = true;\n",
        found_by="scenario_names",
    ),
    "name-outlives-its-player": Fault(
        "client/world/seen.c",
        "a name stays with a slot when its player has left",
        "name->name[0] != 0 && seen->roster[player] <= name->since ? name->name : NULL;",
        "name->name[0] != 0 ? name->name : NULL;",
        found_by="unit_client_world",
    ),
    "npc-renamed-in-vain": Fault(
        "server/players.c",
        "clients are not sent the new name of an NPC",
        "    players->slots[player].name_number = ++players->newest_name;\n",
        "    players->slots[player].name_number = 1;\n",
        found_by="unit_server_clients",
    ),
    # ---- Sessions ----
    "pinned-too-short": Fault(
        "server/sessions.c",
        "the players of a lost client linger for half of the time",
        "    hc_sv_peer_lose(peer, now_us + server->config.linger_us, now_us);\n",
        "    hc_sv_peer_lose(peer, now_us + server->config.linger_us / 2, now_us);\n",
        found_by="hc_storm 15..15",
    ),
    "pinned-for-good": Fault(
        "server/sessions.c",
        "a lost client lingers until its place is needed",
        "        if (hc_sv_peer_lingers(peer) && now_us >= peer->lingers_until_us)\n",
        "        if (hc_sv_peer_lingers(peer) && now_us >= UINT64_MAX)\n",
        found_by="hc_storm 15..15",
    ),
    "pinned-waited-for": Fault(
        "server/ticks.c",
        "the inputs of a lingering client are waited for",
        "        if (hc_sv_peer_lingers(peer))\n"
        "            hc_sv_inputs_force",
        "        if (hc_sv_peer_lingers(peer) && head == HC_NO_TICK)\n"
        "            hc_sv_inputs_force",
        found_by="hc_storm 12..12",
    ),
    "unreliable-twice": Fault(
        "proto/connection.c",
        "some unreliable messages are sent a second time",
        "    hc_unreliable_send(&connection->messages->unreliable_out, body, room - (body->at - before));\n",
        "    struct hc_unreliable sent = connection->messages->unreliable_out;\n"
        "    hc_unreliable_send(&connection->messages->unreliable_out, body, room - (body->at - before));\n"
        "    if (now_us % 5 == 0)\n"
        "        connection->messages->unreliable_out = sent;\n",
        found_by="unit_server_face",
    ),
    "another's-players": Fault(
        "server/clients.c",
        "a new client takes over the players of a lingering one",
        "    unsigned place = hc_sv_search_next_user(search, 0, client_id);\n",
        "    for (unsigned i = 0; i < clients->config.places; i++)\n"
        "        if (hc_sv_peer_lingers(&clients->peers[i]))\n            return &clients->peers[i];\n"
        "    unsigned place = hc_sv_search_next_user(search, 0, client_id);\n",
        found_by="unit_server_clients",
    ),
    "old-inputs-waited-for": Fault(
        "server/handshake.c",
        "a client that reconnects may still send inputs from before",
        "            hc_sv_inputs_force(server, peer, peer->replication.own[i],\n"
        "                                hc_timeline_head(server->timeline), HC_SV_INPUTS_SILENT);\n",
        "            hc_sv_inputs_force(server, peer, peer->replication.own[i], 0, HC_SV_INPUTS_SILENT);\n",
        found_by="hc_storm 22..22",
    ),
    "resumed-always": Fault(
        "server/handshake.c",
        "every client that takes players over resumes the messages, too",
        "    build_accept(server, peer, exchange, resumed, now_us);\n",
        "    build_accept(server, peer, exchange, true, now_us);\n",
        found_by="unit_server_handshake",
    ),
    "messages-acked-unreceived": Fault(
        "proto/reliable.c",
        "an acknowledgement counts for the oldest unacked message, carried or not",
        "        if (carries(carrier->bits, i) && number >= out->oldest)\n",
        "        if ((i == 0 || carries(carrier->bits, i)) && number >= out->oldest)\n",
        found_by="unit_proto_reliable",
    ),
    "messages-not-again": Fault(
        "proto/reliable.c",
        "a lost message is not sent again",
        "        if (entry->acked || (entry->sent && hc_since(entry->sent_us, now_us) < interval))\n",
        "        if (entry->acked || entry->sent)\n",
        found_by="unit_proto_reliable",
    ),
    "messages-of-another-process": Fault(
        "server/handshake.c",
        "another process of the same user gets the rest of the messages to the one before",
        "    if (!resumed) {\n"
        "        hc_sv_program_drop",
        "    if (!resumed && now_us == 0) {\n"
        "        hc_sv_program_drop",
        found_by="unit_server_handshake",
    ),
    "messages-before-all": Fault(
        "server/send.c",
        "messages go before snapshots, however low the rate is",
        "    if (peer->snapshot_starved && peer->messages_sent)\n",
        "    if (peer->state == HC_SV_PEER_FREE)\n",
        found_by="scenario_regressions",
    ),
    "messages-hide-round-trips": Fault(
        "client/session.c",
        "a round trip counts only where the snapshot is the first to acknowledge the datagram",
        "    if (received->world.snapshot != NULL)\n"
        "        hc_cl_snapshot_reader_accept",
        "    if (received->header == NULL && accepted->count > 0)\n"
        "        link->connection.measured = accepted->acked[0].seq;\n"
        "    if (received->world.snapshot != NULL)\n"
        "        hc_cl_snapshot_reader_accept",
        found_by="unit_client_session",
    ),
    "gives-up-early": Fault(
        "client/session.c",
        "a client tries to reconnect for half of the time",
        "        return client->lost_us + config->reconnect_us;\n",
        "        return client->lost_us + config->reconnect_us / 2;\n",
        found_by="unit_client_close",
    ),
    "numbers-carried-over": Fault(
        "proto/connection.c",
        "a client's new connection goes on with the received window of the one before",
        "    *connection = (struct hc_connection){.end = end,\n",
        "    struct hc_received fresh = {.newest = 0};\n"
        "    *connection = (struct hc_connection){.end = end,\n"
        "                                         .received = is_client ? connection->received : fresh,\n",
        found_by="unit_connection",
    ),
    "nonces-again": Fault(
        "server/handshake.c",
        "a connection that takes another's place keeps its key, and begins anew with its nonces",
        "    derive_keys(server, attempt, exchange, cid, &keys);\n",
        "    derive_keys(server, attempt, exchange, cid, &keys);\n"
        "    if (peer->connection.cid != 0)\n"
        "        memcpy(keys.s2c, peer->connection.sealer.key, sizeof keys.s2c);\n",
        found_by="unit_server_handshake",
    ),
    "cookie-without-port": Fault(
        "proto/cookie.c",
        "a cookie is valid for every port of its address",
        "    hc_bytes_put_u16(&writer, address->port);\n",
        "    hc_bytes_put_u16(&writer, 0);\n",
        found_by="unit_proto_vectors",
    ),
    "path-four-times": Fault(
        "server/validation.c",
        "an address that is not validated is sent four bytes for each that came",
        "<= HC_PATH_FACTOR * validation->bytes_in;",
        "<= (HC_PATH_FACTOR + 1) * validation->bytes_in;",
        found_by="unit_server_path",
    ),
    "path-unasked": Fault(
        "server/path.c",
        "a connection follows its datagrams to any address",
        "    HC_MARK(\"path-validation-begun\");\n",
        "    HC_MARK(\"path-validation-begun\");\n"
        "    peer->address = *sighting->from;\n",
        found_by="hc_storm 11..11",
    ),
    "ended-takes-effect": Fault(
        "server/receive.c",
        "a late DATA of a connection that has ended takes effect",
        "    if (received->has_close)\n"
        "        take_close(server, peer, from, &received->close, now_us);\n"
        "    hc_sv_peer_close_ended(peer);\n",
        "    apply(server, peer, from, (struct received *)received, now_us);\n"
        "    hc_sv_peer_close_ended(peer);\n",
        found_by="scenario_desync",
    ),
    "close-answered-twice": Fault(
        "server/receive.c",
        "a CLOSE has two answers, wherever it comes from",
        "    hc_sv_outbox_reply(&server->outbox, from, answer, size);\n",
        "    hc_sv_outbox_reply(&server->outbox, from, answer, size);\n"
        "    hc_sv_outbox_reply(&server->outbox, from, answer, size);\n",
        found_by="unit_server_handshake",
    ),
    # ---- Many matches ----
    "place-leaks": Fault(
        "server/matches/placement.c",
        "a client that a match denies holds a place of it for good",
        "    held->players -= placed->players;\n",
        "    held->players -= placed->admitted ? placed->players : 0;\n",
        found_by="unit_server_matches",
    ),
    "user-in-two-matches": Fault(
        "server/matches/placement.c",
        "a user who has a session in one match is placed in another",
        "            if (room->users[user] == client_id)\n",
        "            if (room->users[user] == client_id && client_id == 0)\n",
        found_by="unit_server_matches",
    ),
    "ticket-of-no-match": Fault(
        "server/admission.c",
        "a ticket of a match that the port no longer has admits nobody",
        "    if (token->kind == HC_TOKEN_RESUME && token->match > matches)\n",
        "    if (token->kind != HC_TOKEN_RESUME && token->match > matches)\n",
        found_by="hc_storm 8..8",
    ),
    "ticks-not-left-out": Fault(
        "server/host.c",
        "a server that is far behind does all ticks after all, burst after burst",
        "    while (hc_sv_ticks_are_due(server, us)) {\n",
        "    while (hc_sv_ticks_are_due(server, now_us) && now_us == UINT64_MAX) {\n",
        found_by="scenario_schedule",
    ),
    "clock-follows-back": Fault("server/clock.c", "a server whose caller's clock is set back waits until it catches up",
        "    if (back_us > step_us)\n", "    if (back_us > UINT64_MAX - 1)\n", found_by="scenario_host_clock"),
    "epoch-not-set-on": Fault(
        "server/schedule.c",
        "the clock is not advanced by the ticks that the server has left out",
        "    schedule->epoch_us += (missed * 1000000",
        "    schedule->epoch_us += (0 * 1000000",
        found_by="unit_server_schedule",
    ),
    "clock-half-way": Fault(
        "client/link/clock.c",
        "the client clock is behind the server's by half a round trip",
        "(uint64_t)bounds->most_us) / 2;\n",
        "(uint64_t)bounds->most_us) / INT64_MAX;\n",
        found_by="unit_client_clock",
    ),
    "stall-for-good": Fault(
        "client/predict.c",
        "a client that has stalled once stays stalled",
        "    result.stalled = hc_cl_timing_must_stall(timing, due, limit_of(client));\n",
        "    result.stalled = timing->stalled || hc_cl_timing_must_stall(timing, due, limit_of(client));\n",
        found_by="hc_storm 1..1",
    ),
}


if __name__ == "__main__":
    check_places(FAULTS)
