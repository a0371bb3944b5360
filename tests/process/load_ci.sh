#!/bin/sh
# hindcast-load in CI: conditions, comparisons, lines for each second, JUnit's XML, Markdown, tokens by key file, and
# the job of docs/LOAD_TESTING.md.
set -u
HC_LIMIT=600
. "$(dirname "$0")/lib.inc"

# exits NAME STATUS: the run ended with the status, or with 1 and a verdict that a busy machine explains.
exits() {
    wanted=$2
    if [ "$status" = "$wanted" ]; then return 0; fi
    [ "$status" = 1 ] && good "$1"
}
# refused TEXT ARGUMENTS...: before any run, hindcast-load refuses the arguments with that text.
refused() {
    part=$1
    shift
    refusal="$("$bin/hindcast-load" "$@" 2>&1 >"$work/refused.out")"
    [ $? = 2 ] && [ ! -s "$work/refused.out" ] && case $refusal in *"$part"*) true ;; *) echo "$refusal"; false ;; esac
}

# Conditions.
start passes hindcast-load --spawn --clients 4 --duration 3 --link ok --fail-if 'client.hash_mismatches>0' \
    --fail-if 'server.tick_ms.p99 < 0' --fail-if 'server.rejected.malformed>0' --junit "$work/passes.xml" \
    --markdown "$work/passes.md" --report "$work/passes.html" --json-lines "$work/passes.jsonl"
finish "$pid"
check "a run whose conditions are false passes" good passes
check "each condition has its value in the report" report passes \
    '([o["ok"] for o in r["conditions"]] == [True] * 3 and r["conditions"][1]["value"] == s["tick_ms"]["p99"]
      and r["conditions"][2]["value"] == 0)'
check "the report says when, where and by which command line it was made" report passes \
    '(len(r["date"]) == 20 and r["host"]["cores"] >= 1 and r["host"]["kernel"].startswith("Linux ")
      and "server.tick_ms.p99 < 0" in r["command_line"] and r["schema_version"] == 1)'
check "the clients that were held are those of all limits" report passes \
    '(r["held"]["clients"] == min(r["held"]["limits"].values()) and len(r["held"]["limits"]) == 9
      and (r["held"]["clients"] == 4) == r["load"]["held"]["ok"])'
check "the line under the verdict says so" grep -q '^held: [0-4] of 4 clients' "$work/passes.out"
check "the page says the same" grep -q '<small>held: [0-4] of 4 clients' "$work/passes.html"
check "there is a line of JSON for each second" python3 - "$work/passes.jsonl" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) >= 1 and [line["elapsed_s"] for line in lines] == sorted(line["elapsed_s"] for line in lines), lines
for line in lines:
    assert 0 <= line["playing"] + line["connecting"] + line["stalled"] <= line["clients"] == 4, line
    assert {"rtt_ms", "bytes_down", "bytes_up", "stalls", "inputs_forced", "snapshots"} <= set(line), line
assert sum(line["bytes_down"] for line in lines) > 0 and sum(line["snapshots"] for line in lines) > 0, lines
END

start fails hindcast-load --spawn --clients 2 --duration 2 --fail-if 'client.stalls>=0' --fail-if 'rtt_ms.p99>1e6' \
    --junit "$work/fails.xml" --markdown "$work/fails.md" --report "$work/fails.html"
finish "$pid"
check "a run with a condition that is true exits with 3" exits fails 3
check "the condition is printed with value and limit" grep -q \
    '^  failed  *client.stalls is [0-9]*, and the run fails if it is >= 0$' "$work/fails.out"
check "the other one is printed, too" grep -q '^  passed  *rtt_ms.p99 is [0-9.]*, and the run would fail if it is > 1000000$' \
    "$work/fails.out"
check "the page has it beside the verdict, and so has the end of the log" sh -c "grep -q \
    '<p class=\"verdict bad\">client.stalls is [0-9]*, and the run fails if it is &gt;= 0</p>' '$work/fails.html' && \
    grep -q '^hindcast-load: --fail-if: client.stalls is ' '$work/fails.err'"
check "an XML reader finds each condition as a test case" python3 - "$work" <<'END'
import sys, xml.etree.ElementTree as tree
for name, failed in ("passes", set()), ("fails", {"client.stalls >= 0"}):
    suite = tree.parse(f"{sys.argv[1]}/{name}.xml").getroot().find("testsuite")
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests")) and len(suite.findall(".//failure")) == int(suite.get("failures"))
    conditions = {case.get("name"): case.find("failure") for case in cases if case.get("classname").endswith(".fail-if")}
    assert len(conditions) == (3 if name == "passes" else 2), conditions
    assert {case for case, failure in conditions.items() if failure is not None} == failed, conditions
    assert any("--spawn" in p.get("value") for p in suite.iter("property") if p.get("name") == "command_line")
END
check "Markdown names it as failed" grep -q '^| client.stalls \\>= 0 | [0-9]* | \*\*failed\*\* |$' "$work/fails.md"

check "an unknown path is refused with those near it" refused "there is no 'p9' in rtt_ms: it has p90, p99" \
    --spawn --fail-if 'rtt_ms.p9>1'
check "an object is no number" refused "'server.tick_ms' is no number: it has p50" --spawn --fail-if 'server.tick_ms>1'
check "a wrong operator is refused" refused "must have one of < <= > >= == !=" --spawn --fail-if 'rtt_ms.p99=>1'
check "a wrong number is refused" refused "must have a number" --spawn --fail-if 'rtt_ms.p99>fast'
check "figures of a server elsewhere are refused" refused "only the server of --spawn" \
    --connect 127.0.0.1:9 --fail-if 'server.tick_ms.p99>1'
check "two files on standard output are refused" refused "standard output has that of --json" \
    --spawn --json - --json-lines -

# The server's arguments.
start words hindcast-load --spawn --clients 2 --duration 2 --server-args "--tick-rate '30' \"--audience\" 0"
finish "$pid"
check "the words of --server-args may be quoted" report words 'r["tick_rate_hz"] == 30'
check "a quote without end is refused with its place" refused "has no end of the quote at character 11" \
    --spawn --server-args "--history '3"
for form in json md html; do echo earlier >"$work/unbegun.$form"; done
start unbegun hindcast-load --spawn --server-args '--history 9999' --duration 1 --junit "$work/unbegun.xml" \
    --markdown "$work/unbegun.md" --report "$work/unbegun.html"
finish "$pid"
check "a run that did not begin is a failed test case, too" python3 -c "import sys, xml.etree.ElementTree as tree
failure = tree.parse('$work/unbegun.xml').getroot().find('.//testcase/failure')
assert $status == 1 and 'did not begin' in failure.get('message')"
check "and no file keeps the results of an earlier run" sh -c "cd '$work' && ! grep -q earlier unbegun.json unbegun.md \
    unbegun.html && grep -q 'did not begin' unbegun.json && grep -q 'did not begin' unbegun.md"

# Comparisons. doctor FROM TO FACTOR: a report with a figure of the server times the factor.
doctor() {
    python3 - "$work/$1.json" "$work/$2.json" "$3" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
report["server"]["memory_bytes"] = int(report["server"]["memory_bytes"] * float(sys.argv[3]))
json.dump(report, open(sys.argv[2], "w"))
END
}
start first hindcast-load --spawn --clients 2 --duration 2
finish "$pid"
doctor first worse 0.5
doctor first better 3
check "a figure that is equal or less is not worse, and one that has doubled is" python3 - "$bin/hindcast-load" "$work" <<'END'
import json, subprocess, sys
program, work = sys.argv[1:]
# The memory is the same in each run.
run = [program, "--spawn", "--clients", "2", "--duration", "2", "--tolerance", "10%"]
for name, worse in ("first", False), ("better", False), ("worse", True):
    done = subprocess.run(run + ["--compare", f"{work}/{name}.json", "--json", f"{work}/c.json"],
                          stdout=subprocess.PIPE, text=True)
    comparison = json.load(open(f"{work}/c.json"))["comparison"]
    memory = [f for f in comparison["figures"] if f["path"] == "server.memory_bytes"]
    assert len(memory) == 1 and memory[0]["worse"] == worse and memory[0]["better"] == "less", memory
    assert "\n  server.memory_bytes " in done.stdout, done.stdout
END
start doctored hindcast-load --spawn --clients 2 --duration 2 --compare "$work/worse.json" --tolerance 10% \
    --junit "$work/doctored.xml" --markdown "$work/doctored.md"
finish "$pid"
check "a run that is worse exits with 4" exits doctored 4
check "the figure is named with both values" grep -q \
    '^  worse  *server.memory_bytes was [0-9e.+]*, and is [0-9e.+]*$' "$work/doctored.out"
check "the table has both values and the change" grep -Eq \
    '^  server.memory_bytes  .* \+100\.0 %  less  WORSE$' "$work/doctored.out"
check "it is a failed test case, and a row of Markdown" sh -c "grep -A1 'name=\"server.memory_bytes\">' \
    '$work/doctored.xml' | grep -q '<failure' && grep -q '^| server.memory.*| +100.0 % | less |' '$work/doctored.md'"
start another hindcast-load --spawn --clients 3 --duration 2 --compare "$work/first.json" --tolerance 1000%
finish "$pid"
check "another load is no comparison" exits another 4
check "it says what differs" grep -q '^  another load  *clients was 2, and is 3$' "$work/another.out"
start busier hindcast-load --spawn --clients 2 --duration 2 --activity 50 --compare "$work/first.json" --tolerance 1000%
finish "$pid"
check "so is one whose users press fewer keys" sh -c "grep -q \
    '^  another load  *load.settings.activity was \"100\", and is \"50\"$' '$work/busier.out'"
echo '{}' >"$work/none.json"
check "what is no report is refused" refused "is no report that hindcast-load --json wrote" \
    --spawn --compare "$work/none.json"
check "a tolerance without % of a number is refused" refused "must be a percentage" \
    --spawn --compare "$work/first.json" --tolerance much

# Tokens of a key.
"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
serve_with keyed --port 0 --key-file "$work/keys" --max-clients 16 --audience 7
keyed=$pid
start issued hindcast-load --connect "127.0.0.1:$port" --key-file "$work/keys" --audience 7 --clients 2 --light 3 \
    --churn 1 --duration 3 --json-lines -
finish "$pid"
check "a load test issues its own tokens by the key" report issued \
    'c["accepted"] >= 5 and c["denied"] == 0 and c["timeouts"] == 0'
check "lines on standard output leave the table to standard error" sh -c \
    "head -n 1 '$work/issued.out' | grep -q '^{\"time\"' && grep -q '^held: ' '$work/issued.err'"
check "the name of the key file is in no record" sh -c \
    "! grep -q '$work/keys' '$work/issued.json' && grep -q -e '--key-file HIDDEN --audience 7' '$work/issued.json'"
start several hindcast-bot --connect "127.0.0.1:$port" --key-file "$work/keys" --audience 7 --count 2 --duration 1
finish "$pid"
check "so do bots" report several 'c["accepted"] == 2'
start steps hindcast-load --connect "127.0.0.1:$port" --key-file "$work/keys" --audience 7 --clients 0 --step 2 \
    --until 4 --duration 2 --fail-if 'steps_verdict.held_clients>100'
finish "$pid"
check "each step has tokens of its own, and the result is judged" report steps \
    'c["denied"] == 0 and r["conditions"][0]["value"] == r["steps_verdict"]["held_clients"]'
start other hindcast-load --connect "127.0.0.1:$port" --key-file "$work/keys" --clients 1 --duration 2
finish "$pid"
check "tokens of another audience are denied" report other 'c["accepted"] == 0'
kill -TERM "$keyed"
finish "$keyed"
chmod 644 "$work/keys"
start open hindcast-load --connect "127.0.0.1:$port" --key-file "$work/keys" --clients 1 --duration 1
finish "$pid"
check "a key file that others may read is refused with the cause" sh -c \
    "[ $status = 1 ] && grep -q 'may use it' '$work/open.err' && grep -q 'issued no tokens' '$work/open.err'"
check "a key and tokens exclude each other" refused "--token FILE and --key-file FILE exclude each other" \
    --connect 127.0.0.1:9 --key-file a --token b

# The job of the page, twice: without a baseline, and with the first report as one.
root=$here/../..
mkdir "$work/job" "$work/tools"
cp "$root/examples/pong/pong.c" "$root/examples/pong/pong.h" "$work/job/"
printf '#!/bin/sh\necho "-I%s/include"\n' "$(cd "$root" && pwd)" >"$work/tools/pkg-config"
chmod +x "$work/tools/pkg-config"
python3 - "$root/docs/LOAD_TESTING.md" "$work/job" <<'END'
import re, sys
page = open(sys.argv[1]).read()
script = re.search(r"```yaml\n.*?\n  script:\n(.*?)\n  artifacts:", page, re.S).group(1)
lines = [re.sub(r"^>-\n", "", item) for item in re.split(r"(?m)^    - ", script)[1:]]
for number, line in enumerate(lines, 1):
    open(f"{sys.argv[2]}/line{number}", "w").write(" ".join(line.split()) + "\n")
assert len(lines) == 3, lines
END
# line NUMBER: runs a line of the job.
line() {
    status=0
    (cd "$work/job" && PATH=$work/tools:$bin:$PATH && export PATH && sh -e "line$1") >"$work/line.log" 2>&1 || status=$?
    cat "$work/line.log"
    return "$status"
}
check "the job compiles the plugin" line 1
check "the job finds no fault in it" line 2
line 3 >/dev/null
cp "$work/job/load.json" "$work/job.json"
check "the job plays, and judges by its conditions" exits job 0
cp "$work/job/load.json" "$work/job/baseline.json"
line 3 >/dev/null
cp "$work/job/load.json" "$work/job.json"
check "with a baseline it compares, too" report job \
    'r["comparison"]["other_load"] == [] and r["comparison"]["tolerance_pct"] == 100 and len(r["conditions"]) == 3'
check "its status is that of the comparison" exits job "$(python3 -c "import json
print(0 if json.load(open('$work/job.json'))['comparison']['ok'] else 4)")"
check "it leaves all its files" sh -c "cd '$work/job' && test -s load.json && test -s load.xml && test -s load.md \
    && test -s load.html"
end
