# Prints what `hindcastd config` prints as a list of settings in scdoc.
function escape(text) {
    gsub(/[\\_*]/, "\\\\&", text)
    gsub(/`/, "*", text)
    sub(/^-/, "\\-", text)
    return text
}
/^# ---- / { print "\n## " substr($0, 8, length($0) - 8) "\n"; headed = 1 }
/^# ---- / || !headed { next }
/^# / {
    line = substr($0, 3)
    text = text (text == "" ? "" : line ~ /^It (is|may) / ? ". " : " ") line
    gsub(/\.\. /, ". ", text)
}
/^;?[a-z-]+ =/ {
    sub(/^;/, "")
    print "\n*" $1 "*\n\t" escape(text)
    text = ""
}
