"""Compares the numbers of the standard, and those of the headers that the product is built from."""
import re
from hcast import document

HEADERS = ("proto/limits.h", "include/hindcast/connection.h", "include/hindcast/credential.h", "include/hindcast/game.h", "include/hindcast/notice.h",
           "include/hindcast/timeline.h", "common/timeline.h", "common/unit.h", "common/extrapolate.h")
UNITS = {"ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6}

# The rows of the tables of section 7 by their first words, and the constants that their numbers are; None is a
# number that follows from a layout, or a server's choice.
LIMITS = {
    "datagram": "DATAGRAM_MAX",
    "body of DATA": "DATA_BODY_MAX ACCEPT_BODY_MAX",
    "values in a message": "PRECHECK_NODES_MAX PRECHECK_DEPTH_MAX",
    "players of a world": "PLAYERS_MAX",
    "own players": "OWN_PLAYERS_MAX",
    "entities of a world": "None UNIT_ENTITIES_MAX",
    "kinds; fields": "KINDS_MAX FIELDS_MAX",
    "bytes of a state": "STATE_MAX INPUT_MAX",
    "bits of the fields": "UNIT_BITS_MAX",
    "lookback": "LOOKBACK_MAX",
    "tick rate": "TICK_RATE_MAX",
    "history, future": "HISTORY_MAX",
    "ticks in an input run": "INPUT_RUN_MAX",
    "units / corrections": "SNAPSHOT_UNITS_MAX SNAPSHOT_CORRECTIONS_MAX",
    "inputs / roster": "SNAPSHOT_INPUTS_SUM_MAX SNAPSHOT_ROSTER_MAX SNAPSHOT_FORCED_MAX GAME_EVENTS_MAX",
    "kinds of game events": "EVENT_KINDS_MAX EVENT_BITS_MAX EMITTED_MAX",
    "ticks from the oldest": "GAME_EVENTS_TICKS",
    "ticks of early lists": "GAME_EVENTS_EARLY",
    "ticks from T": "SNAPSHOT_SPAN_MAX SNAPSHOT_SPAN_MAX",
    "ticks of an extrapolation": "EXTRAPOLATE_TICKS_MAX",
    "heads that a snapshot names": "SNAPSHOT_AGE_MAX",
    "snapshots held": "SNAPSHOT_BASELINE_TICKS",
    "values held": "SNAPSHOT_VALUES_MIN SNAPSHOT_VALUES_EACH",
    "heads of which": "SNAPSHOT_CHAIN_TICKS",
    "margins that a report": "MARGIN_SAMPLES",
    "replay window": "RECEIVED_WINDOW",
    "a datagram is considered lost": "LOST_AFTER",
    "seq with which": "SEQ_RENEW SEQ_LOST",
    "bytes of an event": "MESSAGE_SIZE_MAX",
    "events on the way": "RELIABLE_WINDOW RELIABLE_BYTES_MAX",
    "unreliable messages": "UNRELIABLE_EACH MESSAGE_SIZE_MAX",
    "names in a NAMES": "NAMES_EACH None",
    "bytes of the address": "NOTICE_WHERE_MAX NOTICE_TEXT_MAX",
    "COMPAREs that a server": "COMPARES_MAX DIFFERS_BYTES",
    "matches of a server": "MATCH_MAX",
    "COOKIEs": "COOKIES",
    "CLOSEs": "CLOSES CLOSES_AT_ONCE",
    "DATA of the server": "SILENT_MAX SILENT_ACCEPT",
    "client_ids": "REMEMBERED_USERS REMEMBERED_EACH",
    "used tokens": "SPENT_TOKENS",
    "connects a second": "CONNECTS_PER_ADDRESS CLIENTS_PER_ADDRESS",
    "connects of one client_id": "CONNECTS_AT_ONCE",
    "RESETs": "RESETS_PER_S RESETS_PER_ADDRESS",
    "part of a tick": "",
    "answers to these": "REPLIES_MAX",
    "bytes to an address": "PATH_FACTOR",
    "bytes of a body": "PATH_BODY_MAX",
    "PATH_CHALLENGEs in a row": "PATH_CHALLENGES",
    "datagrams of which half": "PATH_STALL_SEQS",
    "DATA that do not open": "FORGED_PER_SOURCE FORGED_PER_CONNECTION",
    "of a client that is connected": "FLOOD_DATAGRAMS FLOOD_BYTES",
}
TIMES = {
    "**a client:** from one HELLO": "RETRY_US",
    "it uses COOKIEs": "COOKIE_USE_US",
    "after VERSION": "VERSION_WAIT_US",
    "it tries to connect": "TIMEOUT_US RECONNECT_US",
    "from one COMPARE": "COMPARE_US COMPARE_WAIT_US",
    "**both:** from one DATA": "KEEP_ALIVE_US",
    "without a datagram": "TIMEOUT_US",
    "keys are used": "KEYS_LIFE_US",
    "from one CLOSE": "CLOSE_PERIOD_US",
    "clients of a restarting": "RESTART_SPREAD_US",
    "an event is sent again": "RELIABLE_RESEND_LEAST_US",
    "the longest delay": "ACK_DELAY_MAX_US PHASE_MAX_US",
    "**a server:** a cookie": "COOKIE_SLOT_US",
    "a client received this lately": "CONNECTED_US",
    "a ticket is valid": "TICKET_LIFE_S TICKET_RENEW_US TICKET_RESEND_US",
    "a session lingers": "RECONNECT_US SESSION_LIFE_S",
    "from one NAMES": "NAMES_US NAMES_RESEND_US NOTICE_RESEND_US",
    "the limits of a connected client": "FLOOD_US",
    "a report of the margin": "MARGIN_WINDOW_US MARGIN_REPORT_US",
    "a larger body": "PATH_WIDEN_US",
    "from one PATH_CHALLENGE": "PATH_CHALLENGE_US PATH_ROW_US",
    "two addresses": "PATH_IN_USE_US PATH_RETURN_US PATH_HOME_US",
    "an address stalls": "PATH_STALL_US PATH_STALL_MOST_US",
    "silence that ends": "PATH_SILENT_US",
}
# Other constants of limits.h: the words of the standard that have their numbers, or why it has none.
WORDS = {
    "DATAGRAM_HELLO_SIZE": "| `01` HELLO | server | {} |", "DATAGRAM_COOKIE_SIZE": "| `02` COOKIE | client | {} |",
    "DATAGRAM_CONNECT_SIZE": "| `03` CONNECT | server | {} |", "DATAGRAM_ACCEPT_SIZE": "| `04` ACCEPT | client | {} |",
    "DATAGRAM_DENY_SIZE": "| `05` DENY | client | {} |", "DATAGRAM_VERSION_SIZE": "| `06` VERSION | client | {} |",
    "DATAGRAM_RESET_SIZE": "| `41` RESET | client | {} |", "SNAPSHOT_FORCED_SENT": "Forced ranges, the newest {}, are",
    "SNAPSHOT_TICK_MAX": "A server ends its world at {} or before", "RESTART_SECONDS_MAX": "after so many seconds, 0 to {}.",
    "SNAPSHOT_CORRECTION_AGE": None,        # that of baselines
    "SNAPSHOT_INPUTS_BEFORE": "or T - {} if that is",
    "SNAPSHOT_INPUTS_NEAR": None,           # T + 7
    "MARGIN_UNIT_US": "in units of {} us, rounded down",
    "MARGIN_WORST_PERCENT": "after the worst n * {} / 100",
    "PATH_DOUBLINGS": None,                 # up to 0.8 s
    "UNRELIABLE_BYTES": None,               # of a queue of this implementation
}

# The constants of the bound on the bytes in flight: words of CONGESTION.md, and the unit in which they say the number.
FLIGHT_WORDS = {
    "OVERHEAD": ("counts its bytes and {} more", 1), "QUEUE_US": ("(least round trip + {} ms)", 1e3),
    "NEAR_US": ("A round trip up to {} ms longer is *near*", 1e3),
    "WINDOW_US": ("is that of the present {0} s and the {0} s before", 1e6),
    "FIRST_WINDOW_US": ("(of {} s at first)", 1e6), "PATIENCE_FIRST_US": ("On a new path {} s without one count", 2e6),
    "PATIENCE_LEAST_US": ("in [{0} ms, 0.5 s], or [{0} ms, 2 s] on a path", 1e3),
    "PATIENCE_ORDERED_US": ("in [200 ms, {} s], or", 1e6), "PATIENCE_MOST_US": ("or [200 ms, {} s] on a path", 1e6),
    "BACK_US": ("by the server's stamps, at most {} ms", 1e3), "CELL_US": ("at the rate of the newest 0.4 s", 1),
    "LEAST": ("a DATA of at most {} bytes may go", 1), "GROWTH_US": ("A second without another change", 1),
    "FREE_US": ("A bound that holds nothing back for {} s is none", 1e6),
    "DRAIN_US": ("at multiples of {} s of its clock", 1e6), "DRAIN_MOST_US": ("or after {} s without result", 1e6),
    "PROBED": ("that were sent with at most {} bytes in flight", 1), "EQUAL_US": ("that differ by at most {} ms", 1e3),
}


def constants():
    """The numbers of the headers by their names, without HC_, and of times in us; and the names in limits.h."""
    values, own = {"None": None, "NO_TICK": 0xFFFFFFFF}, []
    for header in HEADERS:
        text = re.sub(r"///?[^\n]*", "", document("../" + header).replace("\\\n", " "))
        for name, value in re.findall(r"\bHC_(\w+) = ([^,}]+)", text) + re.findall(r"#define HC_(\w+) (.+)", text):
            plain = re.sub(r"U?INT(32|64)_C|\(hc_tick\)|\bHC_|\bu\b", "", value)
            plain = re.sub(r"\b[A-Z]\w+", lambda m: str(values.get(m[0], m[0])), plain)
            if re.fullmatch(r"[\d\s()*+/<-]+", plain):
                seconds = 10**6 if name.endswith("_LIFE_S") else 1
                values.setdefault(name, eval(plain.replace("/", "//")) * seconds)
                own += [name] if header == HEADERS[0] else []
    return values, own


def numbers(cell):
    """The numbers of a cell; of times, in us."""
    found = re.findall(r"(?:(\d+) \* )?\b(\d+(?:\.\d+)?)(?:\^(\d+))?(?: (ms|s|min|h)\b)?", cell)
    return [int(int(a or 1) * float(b) * UNITS[unit]) if unit else int(a or 1) * int(b) ** int(c or 1) for a, b, c, unit in found]


def check_table(check, name, section, rows, values):
    used = set()
    for label, cell in re.findall(r"^\| (.*) \| (.*) \|$", section, re.M)[1:]:
        keys = sorted((key for key in rows if label.startswith(key)), key=len)[-1:]
        ours = [values.get(c, c) for key in keys for c in rows[key].split()]
        theirs = numbers(cell)
        same = len(ours) == len(theirs) and all(a in (None, b) for a, b in zip(ours, theirs))
        check("limits.%s.%s" % (name, label[:40].replace(" ", "-")), len(keys) == 1 and same, (keys, ours, theirs))
        used.update(keys)
    check("limits.%s.no-row-is-missing" % name, used == set(rows), set(rows) - used)


def check_limits(check):
    values, own = constants()
    text = document("PROTOCOL.md")
    limits, times = text.split("\n### 7.1 ")[1].split("\n### 7.2 ")
    check_table(check, "limits", limits, LIMITS, values)
    check_table(check, "times", times.split("\n### ")[0], TIMES, values)
    for name, words in WORDS.items():
        check("limits." + name, words is None or " ".join(words.format(values[name]).split()) in " ".join(text.split()), values.get(name))
    congestion = " ".join(document("CONGESTION.md").split())
    for name, (words, unit) in FLIGHT_WORDS.items():
        number = "%g" % (values["FLIGHT_" + name] / unit)
        check("limits.flight." + name, words.format(number) in congestion, number)
    named = {"FLIGHT_" + name for name in FLIGHT_WORDS} | {c for rows in (LIMITS, TIMES) for row in rows.values() for c in row.split()} | set(WORDS)
    check("limits.every-one-of-limits.h-is-in-the-standard", set(own) <= named, set(own) - named)
