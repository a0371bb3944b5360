# Prints a part of `PROGRAM --help`, which has each option on one line (make.sh asks for that):
#
#     part=before     the sentences before the options, in scdoc
#     part=options    the options under their headings, in scdoc
#     part=after      the sentences behind the options, in scdoc
#     part=values     each long option and its VALUE: `-` without an argument, `file`, `any`, or words with '|' between
#     part=commands   the commands: those that the sentences name, as `PROGRAM COMMAND`, or those that they list
#
# `column` is where the text of an option begins. The options of a `command` are without those of every program.

# Text as scdoc takes it; what stands between backticks is bold.
function escape(text) {
    gsub(/[\\_*]/, "\\\\&", text)
    while (match(text, /`[^`]*`/))
        text = substr(text, 1, RSTART - 1) "*" substr(text, RSTART + 1, RLENGTH - 2) "*" substr(text, RSTART + RLENGTH)
    return text
}

# A term and its text; a line that begins with a dash would be an item of a list.
function define(term, text) {
    sub(/^-/, "\\-", text)
    print "\n" term "\n\t" text
}

# Splits the left side of an option's line: `names`, `value`.
function split_option(left) {
    gsub(/^ +| +$/, "", left)
    names = left
    sub(/=.*/, "", names)
    value = index(left, "=") ? substr(left, index(left, "=") + 1) : ""
}

# The option in scdoc: words to be typed are bold, and what an argument stands for is underlined.
function term_of(count, i, words, out) {
    out = names
    sub(/, /, "*, *", out)
    out = "*" out "*" (value != "" ? "=" : "")
    count = split(value, words, "|")
    for (i = 1; i <= count; i++)
        out = out (i > 1 ? "|" : "") (words[i] ~ /^[a-z]/ ? "*" words[i] "*" : "_" escape(words[i]) "_")
    return out
}

function value_of(words) {
    words = value
    gsub(/[A-Z][A-Z:]*/, "", words)
    gsub(/^\|+|\|+$/, "", words)
    return value == "" ? "-" : value == "FILE" ? "file" : words == "" ? "any" : words
}

BEGIN { place = "before" }
/^Usage: / { program = $2; next }
/^Mandatory or optional arguments / { next }
place == "before" && /^$/ { place = "options"; next }
place == "before" && part == "before" { print escape($0) }
place == "options" && /^[^ -].*:$/ { heading = substr($0, 1, length($0) - 1); headed = 1 }
place == "options" && /^$/ && headed { heading = "General" } # unless one follows
place == "options" && /^(    |-., )--/ {
    split_option(substr($0, 1, column - 1))
    if (part == "options" && heading != "")
        print "\n## " heading "\n"
    heading = ""
    if (part == "options" && (command == "" || names !~ /--(help|usage|version)$/))
        define(term_of(), escape(substr($0, column + 1)))
    sub(/^-., /, "", names)
    if (part == "values")
        print names, value_of()
    if (names == "--version")
        place = "after"
    next
}
place == "after" && part == "after" {
    if (/^ +[0-9]+\. /) { # a step of a list
        sub(/^ +[0-9]+\. /, "")
        print (list ? "" : "\n") ". " escape($0)
        list = 1
    } else if (/^  [a-z]/) { # a command, with its sentence in the next line
        listed = "*" $1 "*"
        for (i = 2; i <= NF; i++)
            listed = listed " " ($i ~ /^\[/ ? "\\[_" substr($i, 2, length($i) - 2) "_\\]" : "_" $i "_")
    } else if (listed != "") {
        define(listed, escape($0))
        listed = ""
    } else if (/^[A-Z][A-Za-z0-9]*: /) # a key
        define("*" substr($0, 1, index($0, ":") - 1) "*", escape(substr($0, index($0, ":") + 2)))
    else {
        print "\n" escape($0)
        list = 0
    }
}
place == "after" && part == "commands" {
    if (/^  [a-z]/)
        print $1
    while (match($0, "`" program " [a-z-]+")) {
        print substr($0, RSTART + length(program) + 2, RLENGTH - length(program) - 2)
        $0 = substr($0, RSTART + RLENGTH)
    }
}
