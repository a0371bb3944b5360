#!/bin/sh
# A step that crashes, and one that does not return, are named with their function.  crash.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

root=$(cd "$here/../.." && pwd)

# game NAME STATEMENT: builds tag, whose ball takes the statement at each tick after 2,000, which the match at the start does not reach.
game() {
    printf '#include <stdlib.h>\n#define TAG_BALL_STEP(scene, out) if (hc_scene_tick(scene) > 2000) %s\n#include "tests/games/tag.h"\n' "$2" >"$work/$1.c"
    cc -std=c11 -O1 -g -fPIC -shared -I "$root" -I "$root/include" -o "$work/$1.so" "$work/$1.c"
}
place='tag_step_ball (\(tag.h:[0-9]*\|[a-z]*.c:[0-9]*\|[a-z]*.so+0x[0-9a-f]*\))'
check "a game builds whose step writes outside of memory" game writes '*(volatile int *)8 = 1'
check "a game builds whose step aborts" game aborts 'abort()'
check "a game builds whose step does not return" game loops 'for (;;) __asm__ volatile("")'
[ "$failed" -eq 0 ] || end

# A program that finds lines, and hangs.
mkdir "$work/path"
printf '#!/bin/sh\nexec sleep 60\n' >"$work/path/addr2line"
chmod +x "$work/path/addr2line"

# All play to their crash side by side.
serve writes --tick-rate 240 --game "$work/writes.so"
writes=$pid
serve aborts --tick-rate 240 --game "$work/aborts.so"
aborts=$pid
serve json --tick-rate 240 --game "$work/writes.so" --log-format json
json=$pid
: >"$work/journal.err"
JOURNAL_STREAM=$(stat -c %d:%i "$work/journal.err")
export JOURNAL_STREAM
serve journal --tick-rate 240 --game "$work/writes.so"
journal=$pid
unset JOURNAL_STREAM
before=$PATH
PATH=$work/path:$PATH
serve hangs --tick-rate 240 --game "$work/writes.so"
hangs=$pid
serve twice --matches 2 --workers 2
twice=$pid
PATH=$before

# Two threads crash, one after the other, while the first crash is told.
python3 - "$twice" <<'END'
import ctypes, os, sys, time
process = int(sys.argv[1])
threads = sorted(int(t) for t in os.listdir(f"/proc/{process}/task") if int(t) != process)
for thread in threads[:2]:
    assert ctypes.CDLL(None).tgkill(process, thread, 11) == 0
    time.sleep(0.3)
END
finish "$twice"
check "a second crash does not cut off the first one's words" grep -q 'hindcastd: crash by signal 11' "$work/twice.err"
check "they are said once" test "$(grep -c 'crash by signal' "$work/twice.err")" -eq 1

for number in 11 6; do
    name=$([ "$number" = 11 ] && echo writes || echo aborts)
    finish "$([ "$number" = 11 ] && echo "$writes" || echo "$aborts")"
    check "$name: the daemon ends by the signal" test "$status" = $((128 + number))
    check "$name: the last line names the step" sh -c "tail -n 1 '$work/$name.err' | grep -q '^hindcastd: crash by signal $number (match=1 tick=2001 entity=[0-9]* phase=advance): .*, in $place\$'"
done
finish "$json"
check "the line is JSON in a log of JSON" python3 - "$work/json.err" <<'END'
import json, sys
last = json.loads(open(sys.argv[1]).read().split("\n")[-2])
assert last["event"] == "crash" and last["signal"] == 11 and "in tag_step_ball (" in last["why"], last
assert last["match"] == 1 and last["tick"] == 2001 and last["entity"] > 0 and last["phase"] == "advance", last
END
finish "$journal"
check "the line for the journal has a priority" sh -c "tail -n 1 '$work/journal.err' | grep -q '^<2>hindcastd: crash by signal 11 '"
finish "$hangs"
check "a search for the line that hangs delays the end, and the function is told" \
    sh -c "tail -n 1 '$work/hangs.err' | grep -q '^hindcastd: crash by signal 11 .*, in tag_step_ball'"

serve loops --tick-rate 240 --game "$work/loops.so" --log-format json
loops=$pid
check "a match that hangs is logged" await grep -q '"event":"match-hangs"' "$work/loops.err"
check "with its tick and entity" grep -q '"event":"match-hangs".*"tick":2001,"entity":[1-9][0-9]*,"phase":"advance"' "$work/loops.err"
check "with the step that does not return" grep -q "\"why\":\"a call into the match does not return: it is in $place\"" "$work/loops.err"
kill -TERM "$loops"
finish "$loops"
check "SIGTERM ends a daemon whose only match hangs" \
    report loops '[h["place"].startswith("tag_step_ball (") for h in s["hangs"]] == [True]'
check "the log says that its world was left" grep -q '"event":"match-abandoned"' "$work/loops.err"
end
