#!/bin/sh
# Builds and runs every test:  sh tests/run.sh [STAGE...]   (default: all stages, in order)
#
# On a fresh Debian 12, as root, it first installs what it needs. It stops at the first stage that
# fails. The stage `processes`, which waits more than it works, runs beside the stages that follow it.
# The last line is `N passed, N failed`, counting ctest's tests and the stages themselves.
# HC_LONG_PLAYS (no) says whether tests of long plays, and hindcast-check on all broken games, run under
# the sanitizers too, HC_FUZZ_SECONDS (2) is how long each fuzz program searches, HC_HISTORIES (2000) how
# many random histories are compared, HC_STORM_MINUTES (0) how long random matches are played, in release and again
# in asan, from seeds that nobody has played before; with 0 the sources say which: every change plays
# new ones, and what failed somewhere fails everywhere. HC_MACHINES (s390x) names the machines of
# tests/machines/run.sh that are compared with this one; HC_INSTALL (tests) are the groups that deploy/install.sh installs.
set -eu
cd "$(dirname "$0")/.."

all_stages="install build tidy unit processes exact storm fuzz threads machines web"
long_stages="planted browser manifests" # only on demand
presets="asan release fuzz" # asan is dev and more
jobs=$(nproc 2>/dev/null || echo 2)
: "${HC_LONG_PLAYS:=no}" "${HC_FUZZ_SECONDS:=2}" "${HC_HISTORIES:=2000}" "${HC_STORM_MINUTES:=0}" \
    "${HC_MACHINES:=s390x}"
# A misspelt selection in the caller's environment would run nothing and succeed.
unset CK_RUN_SUITE CK_RUN_CASE CK_INCLUDE_TAGS CK_EXCLUDE_TAGS CK_FORK || :

nothing_to_run=77 # a stage's exit status; such a stage counts neither way

# count PASSED FAILED: adds to the totals that the last line prints.
count() {
    echo "$1 $2" >>"$HC_COUNTS"
}

# run_counted WORDS...: a command that counts as one test, or as none when it says that there is
# nothing that it can run; ends the stage when it fails.
run_counted() {
    echo "-- $*"
    status=0
    "$@" || status=$?
    case $status in
    0) count 1 0 ;;
    "$nothing_to_run") echo "SKIPPED: $*" ;;
    *)
        count 0 1
        echo "FAILED: $*"
        exit 1
        ;;
    esac
}

stage_install() {
    for group in ${HC_INSTALL:-tests}; do
        sh deploy/install.sh "$group"
    done
}

stage_build() {
    for preset in $presets; do
        log=build/build-$preset.log
        {
            cmake --preset "$preset" -DHC_TESTS=ON && cmake --build --preset "$preset" -j "$jobs"
        } >"$log" 2>&1 || {
            grep -v "^\[.*\] \(Building\|Linking\)" "$log"
            exit 1
        }
        echo "$preset is built"
    done
}

# Only where somebody has clang-tidy: the compilers and source_rules are the gate.
stage_tidy() {
    if ! command -v run-clang-tidy >/dev/null 2>&1; then
        exit "$nothing_to_run"
    fi
    run-clang-tidy -quiet -j "$jobs" -p build/asan "$PWD/(include|common|proto|server|client|check|web)/.*" \
        >build/tidy.log 2>&1 || {
        grep -E "(warning|error):" build/tidy.log | sort -u || tail -n 20 build/tidy.log
        exit 1
    }
}

stage_unit() {
    for preset in asan release; do
        log=build/ctest-$preset.log
        ok=yes
        set -- ctest --preset "$preset" -j $((jobs + 1)) # some tests wait
        [ "$preset $HC_LONG_PLAYS" != "asan no" ] || set -- env CK_EXCLUDE_TAGS=long "$@" -LE games
        "$@" >"$log" 2>&1 || ok=no
        # "98% tests passed, 1 tests failed out of 50"
        summary=$(sed -n 's/.* \([0-9]*\) tests* failed out of \([0-9]*\)$/\1 \2/p' "$log")
        if [ -n "$summary" ]; then
            failed=${summary% *} all=${summary#* }
            count $((all - failed)) "$failed"
            echo "$preset: $((all - failed)) of $all tests passed"
        fi
        if [ "$ok" = no ]; then
            cat "$log"
            exit 1
        fi
    done
}

stage_exact() {
    ran=$nothing_to_run
    if [ -x build/release/bin/exact_histories ]; then
        run_counted build/release/bin/exact_histories --histories "$HC_HISTORIES" --jobs "$jobs"
        ran=0
    fi
    if [ -f tests/faults/run.sh ]; then
        run_counted sh tests/faults/run.sh
        ran=0
    fi
    exit "$ran"
}

# sources_number: a number that follows from the sources that a match depends on.
sources_number() {
    find include common proto server client check tests/exact tests/sim tests/storm -name '*.[ch]' | LC_ALL=C sort |
        xargs cat | cksum | cut -d ' ' -f 1
}

# The pinned seeds are among ctest's tests; these are others. A failure names the seed to repeat.
stage_storm() {
    ran=$nothing_to_run
    for preset in release asan; do
        [ -x "build/$preset/bin/hc_storm" ] || continue
        first=$(sources_number)0000 count=600
        [ "$preset" = release ] || first=$((first + 5000)) count=100
        set -- --seeds "$first..$((first + count - 1))"
        if [ "$HC_STORM_MINUTES" -gt 0 ]; then
            first=$(date +%s)000
            set -- --minutes "$HC_STORM_MINUTES" --seeds "$first..$((first + 10000000))"
        fi
        run_counted "build/$preset/bin/hc_storm" --jobs "$jobs" "$@"
        ran=0
    done
    exit "$ran"
}

# search PROGRAM: searches from the stored corpus; what is found new stays in build/corpus/NAME for a
# look. Says how fast it was, or shows what was found.
search() {
    name=${1##*/fuzz_}
    log=build/fuzz-$name.log
    mkdir -p "build/corpus/$name"
    set -- "$1" -max_total_time="$HC_FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
        -print_final_stats=1 -artifact_prefix="build/corpus/$name-" "build/corpus/$name"
    [ ! -d "tests/fuzz/corpus/$name" ] || set -- "$@" "tests/fuzz/corpus/$name"
    "$@" >"$log" 2>&1 || {
        cat "$log"
        count 0 1
        echo "FAILED: $1"
        exit 1
    }
    count 1 0
    awk '/number_of_executed_units/ { n = $2 } /average_exec_per_sec/ { rate = $2 } /new_units/ { new = $2 }
        END { printf "-- %s: %d inputs, %d exec/s, %d new ones kept\n", program, n, rate, new }' \
        program="$1" "$log"
}

stage_fuzz() {
    printf '%s\n' build/fuzz/bin/fuzz_* | xargs -P "$jobs" -n 1 sh tests/run.sh --search
    run_counted sh tests/fuzz/coverage.sh
}

# run_script SCRIPT: one process test, which prints all it has to say when it ends.
run_script() {
    name=${1##*/}
    log=build/process-${name%.sh}.log
    begin=$(date +%s)
    status=0
    sh "$1" build/release/bin >"$log" 2>&1 || status=$?
    echo "-- $1: exit status $status after $(($(date +%s) - begin)) s"
    cat "$log"
    [ "$status" != "$nothing_to_run" ] || exit 0
    if [ "$status" = 0 ]; then count 1 0; else count 0 1; fi
    exit "$status"
}

# Each script gets the directory of the release programs and answers with its exit status. They wait
# more than they work, so three times as many run at once as there are cores. The longest begin first.
stage_processes() {
    longest="vanish load load_ci links conformance verdict plugin backend install tokens path"
    {
        # shellcheck disable=SC2086 # a list of words
        printf 'tests/process/%s.sh\n' $longest
        printf '%s\n' tests/process/*.sh
    } | awk '!seen[$0]++' | xargs -P $((3 * jobs)) -n 1 sh tests/run.sh --script
}

# The thread sanitizer watches two clients in two threads, and a daemon with two workers whose clients
# are those of the release build.
stage_threads() {
    log=build/build-tsan.log
    {
        cmake --preset tsan -DHC_TESTS=ON &&
            cmake --build --preset tsan -j "$jobs" --target hindcastd test_client_threads
    } >"$log" 2>&1 || {
        grep -v "^\[.*\] \(Building\|Linking\)" "$log"
        exit 1
    }
    run_counted build/tsan/tests/test_client_threads
    for program in hindcast-load hindcast-bot; do
        ln -sf "$PWD/build/release/bin/$program" build/tsan/bin/
    done
    run_counted sh tests/process/matches.sh build/tsan/bin
    run_counted sh tests/process/match_hang.sh build/tsan/bin
    run_counted sh tests/process/config.sh build/tsan/bin
}

# The same matches on machines that compute otherwise: numbers in s390x have the other byte order.
stage_machines() {
    # shellcheck disable=SC2086 # a list of words
    run_counted sh tests/machines/run.sh $HC_MACHINES
}

# The cores and the library for pages, as WebAssembly in Node.
stage_web() {
    run_counted sh tests/web/run.sh
}

# The manifests and the Dockerfile, by schemas and a linter of the npm registry.
stage_manifests() {
    run_counted sh tests/manifests.sh
}

# Every planted fault, and most mutants, must be found by some test. The faults take minutes; a mutant that
# no test finds plays all tests, so the mutants take most of the time.
stage_planted() {
    run_counted python3 tests/planted.py
}

# The pages in a real browser. Chromium is too large for each run.
stage_browser() {
    run_counted sh tests/browser/run.sh
}

# A stage runs in a shell of its own: within `if`, a function would go on after a failed command.
if [ "${1-}" = --inside ]; then
    "stage_$2"
    exit 0
fi
if [ "${1-}" = --script ]; then
    run_script "$2"
fi
if [ "${1-}" = --search ]; then
    search "$2"
    exit 0
fi

for stage in "$@"; do
    case " $all_stages $long_stages " in
    *" $stage "*) ;;
    *)
        echo "run.sh: unknown stage '$stage'; there are: $all_stages $long_stages" >&2
        exit 2
        ;;
    esac
done
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $all_stages

# stage STAGE: runs a stage and counts it; its status is the stage's, or 0 if it had nothing to run.
stage() {
    begin=$(date +%s)
    result=0
    sh tests/run.sh --inside "$1" || result=$?
    seconds=$(($(date +%s) - begin))
    case $result in
    0)
        count 1 0
        echo "== $1: $seconds s"
        ;;
    "$nothing_to_run")
        echo "== $1: skipped, there is nothing here to run"
        result=0
        ;;
    *)
        count 0 1
        echo "== $1: FAILED after $seconds s; to repeat it: sh tests/run.sh $1"
        ;;
    esac
    return "$result"
}

mkdir -p build
HC_COUNTS=$PWD/build/counts
export HC_COUNTS HC_LONG_PLAYS HC_FUZZ_SECONDS HC_HISTORIES HC_STORM_MINUTES HC_MACHINES
: >"$HC_COUNTS"
status=0
beside= # the process of the stage that runs beside the others
for stage in "$@"; do
    if [ "$stage" = processes ] && [ $# -gt 1 ]; then
        stage "$stage" >build/processes.log 2>&1 &
        beside=$!
        continue
    fi
    stage "$stage" || {
        status=1
        break
    }
done
if [ -n "$beside" ]; then
    wait "$beside" || status=1
    cat build/processes.log
fi
awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed }' \
    "$HC_COUNTS"
exit $status
