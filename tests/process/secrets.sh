#!/bin/sh
# Key files as platforms hand them over: from root with a group, in $CREDENTIALS_DIRECTORY, and by a pipe. One that
# others can read is refused.
set -u
. "$(dirname "$0")/lib.inc"

# fails PATTERN COMMAND...: exit status 1, and an error that matches.
fails() {
    pattern=$1
    shift
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    cat "$work/err"
    [ "$status" = 1 ] && grep -qe "$pattern" "$work/err"
}
# accepts COMMAND...: the command checks its configuration, and finds it good.
accepts() {
    "$@" --check-config >"$work/out" 2>&1
    cat "$work/out"
    grep -qx ok "$work/out"
}

"$bin/hindcastd" key --key-file "$work/keys" >/dev/null
cp "$bin/hindcastd" "$work/hindcastd"
chmod 755 "$work" "$work/hindcastd"
server=$work/hindcastd
if [ "$(id -u)" = 0 ]; then
    # as_nobody GROUP COMMAND...: runs the command as a user without rights, who is also in a group.
    as_nobody() {
        groups=$1
        shift
        setpriv --reuid 65534 --regid 65534 --groups "$groups" --no-new-privs "$@"
    }
    chown 0:4242 "$work/keys"
    chmod 440 "$work/keys"
    check "a file of root that its group may read is accepted" accepts as_nobody 4242 "$server" --key-file "$work/keys"
    check "not by users outside of the group" fails "Permission denied" as_nobody 65534 "$server" --key-file "$work/keys"
    chmod 444 "$work/keys"
    check "one that every user may read is refused" fails "every user may use it (mode 444): chmod 600" \
        as_nobody 4242 "$server" --key-file "$work/keys"
    chmod 460 "$work/keys"
    check "one that its group may change is refused" fails "its group may use it (mode 460)" \
        as_nobody 4242 "$server" --key-file "$work/keys"
    chown 65534:4242 "$work/keys"
    chmod 440 "$work/keys"
    check "so is one of the user that its group may read" fails "its group may use it (mode 440)" \
        as_nobody 4242 "$server" --key-file "$work/keys"
    chown 65533:4242 "$work/keys"
    check "and one of another user" fails "belongs to user 65533" as_nobody 4242 "$server" --key-file "$work/keys"
    chown 0:4242 "$work/keys"
    chmod 640 "$work/keys"
    "$bin/hindcastd" key --key-file "$work/keys" >/dev/null
    check "a rotation keeps the group and its permission" test "$(stat -c %a:%g "$work/keys")" = 640:4242
    chown 0:0 "$work/keys"
else
    chmod 640 "$work/keys"
    check "a file of the user that its group may read is refused" fails "its group may use it (mode 640)" \
        "$server" --key-file "$work/keys"
    chmod 604 "$work/keys"
    check "so is one that every user may read" fails "every user may use it (mode 604)" "$server" --key-file "$work/keys"
fi
chmod 600 "$work/keys"

# A name without a slash is looked for where a service manager puts credentials, and then here.
mkdir "$work/credentials" "$work/here"
cp "$work/keys" "$work/credentials/game-keys"
"$bin/hindcastd" key --key-file "$work/here/own-keys" >/dev/null
inside() {
    (cd "$work/here" && CREDENTIALS_DIRECTORY=$work/credentials "$@")
}
check "a credential is found by its name" accepts inside "$server" --key-file game-keys
check "tokens are issued with it too" inside "$bin/hindcastd" token --key-file game-keys
check "a name that is no credential is a file here" accepts inside "$server" --key-file own-keys
check "a path is a path" fails "./game-keys': No such file" inside "$server" --key-file ./game-keys
chmod 604 "$work/credentials/game-keys"
check "a credential that others can read is refused" fails "every user may use it" \
    inside "$server" --key-file game-keys

# By a pipe: the keys are in no file.
cat >"$work/piped" <<END
exec 3<"$work/fifo"
exec "$bin/hindcastd" --verdict --bind 127.0.0.1 --port 0 --key-file /dev/fd/3
END
mkfifo -m 600 "$work/fifo"
sh "$work/piped" >"$work/server.out" 2>"$work/server.err" &
piped=$!
running="$running $piped"
cat "$work/keys" >"$work/fifo"
check "a server has its keys from a pipe" await grep -q "^listening on" "$work/server.out"
port=$(sed -n 's/^listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$work/server.out")
"$bin/hindcastd" token --key-file "$work/keys" --life 600 >"$work/token"
start player hindcast-bot --connect "127.0.0.1:$port" --token "$work/token" --duration 1
finish "$pid"
check "a bot plays with a token of these keys" report player 'c["snapshots"] > 0'
kill -HUP "$piped"
check "SIGHUP keeps them" await grep -q "info  keys-kept why=.*is a pipe" "$work/server.err"
"$bin/hindcastd" token --key-file "$work/keys" --life 600 >"$work/token"
start again hindcast-bot --connect "127.0.0.1:$port" --token "$work/token" --duration 1
finish "$pid"
check "and bots still play" report again 'c["snapshots"] > 0'
kill -TERM "$piped"
finish "$piped"
end
