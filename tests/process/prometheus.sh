#!/bin/sh
# The rules of Prometheus and the dashboard of Grafana name what running servers export; where promtool and Prometheus
# are installed (deploy/install.sh prometheus), the alerts fire and clear, and Prometheus answers each expression.
set -u
. "$(dirname "$0")/lib.inc"
root=$(cd "$here/../.." && pwd)

# serve_admin NAME ARGUMENTS...: as serve, with an admin face; sets $at.
serve_admin() {
    serve "$@" --admin 127.0.0.1:0
    opened() {
        at=$(sed -n 's/.* admin-open at=\([^ ]*\) .*/\1/p' "$work/$name.err")
        [ -n "$at" ]
    }
    await opened
}

serve_admin several --matches 2
several=$pid
check "several matches have metrics" sh -c "python3 '$here/admin.py' '$at' get /metrics >'$work/several'"
kill -TERM "$several"
finish "$several"
serve_admin server --max-clients 8
check "one has, too" sh -c "python3 '$here/admin.py' '$at' get /metrics >'$work/one'"
check "the rules and the dashboard name only what is exported" \
    python3 "$here/prometheus.py" names "$work/one" "$work/several"

if ! command -v promtool >/dev/null; then
    echo "SKIPPED the rest: promtool is not installed"
    end
fi
check "promtool accepts the example of a configuration, and the rules" \
    promtool check config "$root/deploy/prometheus/prometheus.yml"
check "each alert fires and clears" promtool test rules "$here/prometheus_rules.yml"

# A Prometheus that scrapes this server every second, and applies the rules.
start bots hindcast-bot --connect "127.0.0.1:$port" --count 4 --link awful
bots=$pid
await grep -q "all .* play" "$work/bots.out" "$work/bots.err"
sed "s/15s/1s/; s/127\.0\.0\.1:40080/$at/; s,hindcast.rules.yml,$root/deploy/prometheus/&," \
    "$root/deploy/prometheus/prometheus.yml" >"$work/prometheus.yml"
web=127.0.0.1:$(python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
prometheus --config.file "$work/prometheus.yml" --storage.tsdb.path "$work/series" --web.listen-address "$web" \
    >"$work/prometheus.log" 2>&1 &
prometheus=$!
running="$running $prometheus"
check "Prometheus scrapes the server" await python3 -c "import urllib.request as u; u.urlopen('http://$web/-/ready')"
check "and answers each expression with a sample" python3 "$here/prometheus.py" ask "http://$web" "$at"
kill -TERM "$prometheus"
finish "$prometheus"
kill -TERM "$bots"
finish "$bots"
end
