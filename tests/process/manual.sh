#!/bin/sh
# The man pages and the completions of bash have all options and commands of the programs, and the service's
# configuration is one that hindcastd takes.  manual.sh DIRECTORY_OF_PROGRAMS
set -u
. "$(dirname "$0")/lib.inc"

version=$(sed -n 's/^project(hindcast VERSION \([0-9.]*\).*/\1/p' "$here/../../CMakeLists.txt")
check "all is made" sh "$here/../../deploy/manual/make.sh" "$bin" "$work" "$version"
[ "$failed" -eq 0 ] || end

# options PROGRAM [COMMAND]: the names of its options, by its --usage, which is laid out otherwise than --help.
options() {
    "$bin/$1" ${2+"$2"} --usage | grep -o -e '\[--[a-z-]*' | tr -d '[' | sort -u
}
# has_options FILE PATTERN: the file has a line of the pattern, with the name in place of NAME, for each option of the
# standard input.
has_options() {
    read_any=no
    while read -r name; do
        read_any=yes
        zgrep -q -e "$(printf '%s\n' "$2" | sed "s/NAME/$name/")" "$1" || {
            echo "$1 has no $name"
            return 1
        }
    done
    [ "$read_any" = yes ]
}
for page in "$work"/man/*.[18].gz; do
    program=$(basename "$page" | sed 's/\.[0-9]\.gz$//')
    options "$program" >"$work/options"
    check "the page of $program has all its options" has_options "$page" '^\\fB.*NAME\\fR' <"$work/options"
    check "the completion of $program has all its options" \
        has_options "$work/completions/$program" '^ *\[/NAME\]=' <"$work/options"
done
for command in key token protocol-id; do
    options hindcastd "$command" | grep -v -x -e --help -e --usage -e --version >"$work/options"
    check "the page of hindcastd has all options of its command $command" \
        has_options "$work/man/hindcastd.8.gz" '^\\fB.*NAME\\fR' <"$work/options"
done
"$bin/hindcastd" config | sed -n 's/^;\([a-z-]*\) =.*/\1/p' >"$work/settings"
check "the page of hindcastd.conf has all settings" \
    has_options "$work/man/hindcastd.conf.5.gz" '^\\fBNAME\\fR$' <"$work/settings"
no_heading_is_empty() {
    zcat "$work"/man/*.gz | awk '/^\.S[HS]/ && last ~ /^\.SS/ { print last; empty = 1 } { last = $0 } END { exit empty }'
}
check "each heading has something under it" no_heading_is_empty
if command -v mandoc >/dev/null; then
    for page in "$work"/man/*.gz; do
        name=$(basename "$page" .gz)
        zcat "$page" >"$work/$name"
        check "mandoc has no warning of $name" mandoc -T lint -W warning "$work/$name"
    done
fi
check "hindcastd takes the service's configuration, which has all settings" \
    sh -c "'$bin/hindcastd' config --config '$work/hindcastd.conf' | diff - '$work/hindcastd.conf'"

# completes "WORDS" "ANSWERS": bash answers the last of the words, as it divides a command line, with the answers.
# shellcheck disable=SC2016 # for bash
completes() {
    check "'$1' is completed" bash -c '
        read -r -a COMP_WORDS <<<"$2"
        [[ $2 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        . "$1/${COMP_WORDS[0]}" && cd "$1/.." || exit 1
        "_${COMP_WORDS[0]//-/_}" "${COMP_WORDS[0]}"
        echo "${COMPREPLY[*]}"
        [[ ${COMPREPLY[*]} == $3 ]]' bash "$work/completions" "$1" "$2"
}
touch "$work/a-file"
completes "hindcastd --log-l" "--log-level="
completes "hindcastd --log-level = " "debug error info warn"
completes "hindcastd --log-level = wa" "warn"
completes "hindcastd --log-level =" "debug error info warn"
completes "hindcastd --log-format j" "json"
completes "hindcastd --verd" "--verdict"
completes "hindcastd --verdict --check" "--check-config"
completes "hindcastd --key-file a-f" "a-file"
completes "hindcastd --port 4" ""
completes "hindcastd " "config key protocol-id token"
completes "hindcastd token --co" "--count="
completes "hindcastd token --bi" ""
completes "hindcastd config --bi" "--bind="
completes "hindcastctl dr" "drain"
completes "hindcastctl kick --pass" "--password-file="
completes "hindcast-bot --link = o" "ok"
completes "hindcast-bot --input-delay " "auto"
completes "hindcast-load --spawn --fail" "--fail-if="
completes "hindcast-check --nonsense" ""
end
