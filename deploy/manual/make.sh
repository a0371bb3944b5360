#!/bin/sh
# Makes the man pages, the completions of bash and the service's configuration, from the built programs:
#
#     sh deploy/manual/make.sh PROGRAMS OUT VERSION
#
# The options come from each program's --help, and so from the lists of settings in the source; the pages beside
# this script have the rest. PROGRAMS is their directory; for a program that is not there nothing is made. OUT
# gets completions/*, hindcastd.conf and, if scdoc is installed, man/*.gz.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$1" && pwd)
out=$2
version=$3
mkdir -p "$out/man" "$out/completions"
PATH=$programs:$PATH

# help PART PROGRAM [COMMAND]: a part of --help. argp puts each option on one line.
help() {
    ARGP_HELP_FMT=short-opt-col=0,long-opt-col=4,doc-opt-col=0,opt-doc-col=100,header-col=0,usage-indent=0,rmargin=20000 \
        "$2" ${3+"$3"} --help >"$out/help"
    awk -v part="$1" -v command="${3-}" -v column=100 -f "$here/help.awk" "$out/help"
}

# page FILE: prints it; a line `@PART PROGRAM [COMMAND]` stands for a part of --help, and `@settings` for the settings
# of a configuration file.
page() {
    while IFS= read -r line; do
        case $line in
        @settings)
            hindcastd config >"$out/config"
            awk -f "$here/config.awk" "$out/config"
            ;;
        @*)
            # shellcheck disable=SC2086 # a list of words
            help ${line#@}
            ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1" | sed "s/@VERSION@/$version/" | cat -s
}

# completion PROGRAM: prints its completion.
completion() {
    commands=$(help commands "$1" | tr '\n' ' ')
    help values "$1" | sed 's|^|/|' >"$out/values"
    for command in $commands; do
        help values "$1" "$command" | sed "s|^|$command/|" >"$out/command"
        # Only some commands have options of their own.
        grep -q "^Usage: $1 $command " "$out/help" && cat "$out/command" >>"$out/values"
    done
    sed -i "s/\([^ ]*\) \(.*\)/        [\1]='\2'/" "$out/values"
    sed -e "s/@PROGRAM@/$1/" -e "s/@FUNCTION@/$(echo "$1" | tr - _)/" -e "s/@COMMANDS@/${commands% }/" \
        -e "/@VALUES@/{r $out/values" -e 'd;}' "$here/completion.bash"
}

for program in hindcastd hindcastctl hindcast-bot hindcast-load hindcast-check hindcast-view; do
    [ ! -x "$programs/$program" ] || completion "$program" >"$out/completions/$program"
done

# These settings differ from the defaults, and the unit's command line does not have them.
hindcastd config --admin unix:/run/hindcast/admin.sock --refused /var/lib/hindcast/refused >"$out/hindcastd.conf"

if command -v scdoc >/dev/null 2>&1; then
    for source in "$here"/*.scd; do
        name=$(basename "$source" .scd)
        program=${name%.*}
        [ -x "$programs/${program%.conf}" ] || continue
        page "$source" >"$out/$name.scd"
        # scdoc begins a paragraph at each blank line, beside headings and at the end of a text too: mandoc warns.
        scdoc <"$out/$name.scd" | awk '
            /^\.P$/ { waits = last !~ /^\.S[HS] /; next }
            waits && !/^\.(RE|S[HS] .*)$/ { print ".P"; waits = 0 }
            /^\.S[HS] / { waits = 0 }
            { print; last = $0 }' >"$out/page"
        gzip -9 -n -c "$out/page" >"$out/man/$name.gz"
    done
fi
rm -f "$out/help" "$out/config" "$out/values" "$out/command" "$out/page"
