#!/bin/sh
# Plants every fault of faults.py into a copy of the sources and has the exactness program find it.
#
#     sh tests/faults/run.sh [HISTORIES]     at most so many for each fault (default 1000)
#
# Prints a table: the fault, after how many histories it was caught, and what differed first.
# Exit status 0 only if the sources as they are pass and every fault is caught.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
histories=${1:-1000}
seconds=120 # a fault may well make the program loop for ever
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

mkdir -p "$work/objects" "$work/tests"
cp -R "$root/common" "$work/"
cp -R "$root/tests/oracle" "$root/tests/exact" "$work/tests/"
cp -R "$work/common" "$work/unchanged"
cd "$work"

# compile FILE: the flags are those of the release preset, less its warnings.
compile() {
    "$cc" -std=c17 -O2 -w -D_GNU_SOURCE -I. -c "$1" -o "objects/$(echo "$1" | tr / _).o"
}

build() {
    for file in "$@"; do
        compile "$file"
    done
    "$cc" objects/*.o -lxxhash -o exact_histories
}

# play: status 0 when nothing differs; everything printed goes to ./output.
play() {
    timeout "$seconds" ./exact_histories --histories "$histories" >output 2>&1
}

build common/*.c common/*/*.c tests/oracle/*.c tests/exact/*.c
if ! play; then
    cat output
    echo "the sources as they are do not pass"
    exit 1
fi
printf '%-22s %9s  %s\n' fault histories "what differed first"
printf '%-22s %9s  %s\n' none "$histories" nothing

missed=0
for fault in $(python3 "$here/faults.py" list); do
    file=$(python3 "$here/faults.py" file "$fault")
    python3 "$here/faults.py" apply "$fault" .
    build "$file"
    status=0
    play || status=$?
    caught=$(sed -n 's/^history \([0-9]*\) of seed.*/\1/p' output | head -n 1)
    if [ "$status" -eq 124 ]; then
        printf '%-22s %9s  %s\n' "$fault" - "did not end in $seconds s"
    elif [ -z "$caught" ]; then # not even where counts are too few: nothing differed
        printf '%-22s %9s  %s\n' "$fault" never "MISSED: $(python3 "$here/faults.py" what "$fault")"
        missed=$((missed + 1))
    else
        why=$(sed -n 's/^history.* differs at tick [^:]*: //p; s/^history.* \(broke down.*\)/\1/p' \
            output | head -n 1)
        printf '%-22s %9d  %s\n' "$fault" $((caught + 1)) "$why"
    fi
    cp "unchanged/${file#common/}" "$file"
    compile "$file"
done
[ "$missed" -eq 0 ]
