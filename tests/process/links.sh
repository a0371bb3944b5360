#!/bin/sh
# A short load test on each link preset: the report has every key that scripts depend on, and figures
# that fit the link.
set -u
. "$(dirname "$0")/lib.inc"

for link in good ok bad awful; do
    start "$link" hindcast-load --spawn --clients 8 --duration 5 --link "$link" --seed 1
    finish "$pid"
    check "$link: the run was good" good "$link"
    check "$link: the report has all keys" python3 - "$work/$link.json" <<'END'
import json, sys
histogram = {"p50", "p90", "p99", "max", "count"}
wanted = {
    "": "program version seed duration_ms tick_rate_hz ticks clients link bytes_down_per_client_s "
        "bytes_up_per_client_s datagrams_down_per_client_s rtt_ms jitter_ms server client verdict load",
    "server": "tick_ms tick_lateness_ms cpu_us_per_client_tick ticks_missed ticks_over_budget inputs rewinds "
              "rewind_depth_ticks resimulated_ticks entity_steps resimulated_entity_steps "
              "corrections memory_bytes longest_unsent_ticks bytes_sent datagrams_sent",
    "load": "processes cpu_ms cores_used lateness_ms datagrams_due datagrams_sent sent_ratio",
    "client": "rollbacks rollback_depth_ticks snapshots snapshots_matched stalls "
              "input_delay_ticks hash_checks hash_mismatches"}
r = json.load(open(sys.argv[1]))
for part, keys in wanted.items():
    at = r
    for key in part.split(".") if part else []:
        at = at[key]
    missing = set(keys.split()) - set(at)
    assert not missing, missing
    # Only histograms may be empty.
    assert all(at[k] is not None for k in keys.split())
for h in (r["rtt_ms"], r["server"]["tick_ms"], r["server"]["tick_lateness_ms"],
          r["server"]["rewind_depth_ticks"], r["client"]["rollback_depth_ticks"],
          r["client"]["input_delay_ticks"]):
    assert histogram <= set(h), h
assert set(r["server"]["inputs"]) >= {"received", "late", "forced", "refused", "lost"}
END
    check "$link: all clients play to the end" report "$link" \
        'c["left"] == 8 and c["timeouts"] == 0 and c["snapshots"] > 0'
    check "$link: no input is lost, most snapshots are checked, and no hash differs" report "$link" \
        'inputs["lost"] == 0 and c["hash_mismatches"] == 0 and c["hash_checks"] > 0.5 * s["snapshots"]'
    check "$link: game events are confirmed, and the server has them" report "$link" \
        'c["game_events"]["confirmed"] > 0 and s["game_events"] > 0'
    check "$link: no tick is missed unless the server was 16 ticks late" report "$link" \
        's["ticks_missed"] == 0 or s["tick_lateness_ms"]["max"] > 15 * 1000 / r["tick_rate_hz"]'
done
check "bad: late inputs rewind the server and corrections roll clients back" \
    report bad 's["rewinds"] > 10 and c["rollbacks"] > 10'
check "awful: late inputs rewind the server" report awful 's["rewinds"] > 10'

# Two clients, whose inputs alone would take more than this.
start narrow hindcast-load --spawn --clients 2 --duration 5 --latency 20 --bandwidth 32 --queue 300 --seed 1
finish "$pid"
check "narrow: the report has the link's bandwidth and queue" report narrow \
    'r["link"]["bandwidth_kbit"] == 32 and r["link"]["queue_ms"] == 300'
check "narrow: no client receives more than that" report narrow \
    '0 < c["bytes_received"] <= 2 * 32 * 125 * (r["duration_ms"] / 1000 + 0.3)'

# Outages of 2 s on average, longer than the history of 64 ticks, may cost only inputs.
start outages hindcast-load --spawn --clients 8 --duration 8 --link good --loss 40 --burst 120 --seed 1
finish "$pid"
check "outages: exit status 1, because clients stalled" test "$status" = 1
check "outages: clients stall, and the server forces their inputs" \
    report outages 'c["stalls"] > 0 and inputs["forced"] > 0'
check "outages: no input that arrived in time is lost, no hash differs" \
    report outages 'inputs["lost"] == 0 and c["hash_mismatches"] == 0 and c["left"] + c["cut_off"] == 8'
end
