#!/usr/bin/env python3
"""Compares the rules of Prometheus and the dashboard of Grafana with the metrics of running servers.

usage: prometheus.py names METRICS...   every name, label and value in every expression is one of these /metrics
       prometheus.py ask URL TARGET     a Prometheus that reads TARGET answers every expression with a sample

Names also checks that each counter of a server is a metric, that rate() and its like get what only grows, that each
alert has a test that it fires and clears and a row of docs/OPERATING.md, and that the panels of the dashboard are
whole and do not overlap.
"""
import json
import os
import re
import sys
import time
import urllib.parse
import urllib.request

import yaml

from metrics import parse

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
RULES, TESTS = "deploy/prometheus/hindcast.rules.yml", "tests/process/prometheus_rules.yml"
DASHBOARD, PAGE, REPORT = "deploy/grafana/hindcast.json", "docs/OPERATING.md", "docs/REPORT.md"
OF_TARGETS = {"job", "instance"}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[a-zA-Z_:][a-zA-Z0-9_:]*|=~|!~|!=|[<>=]=|\d[\w.]*|\S')
GROWTH = {"rate", "irate", "increase", "resets"}
LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = {"and", "or", "unless", "bool", "offset"}
AWAIT_S = 120


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class Names:
    """The series that there are: for each name its kind, and the values of each label."""

    def __init__(self):
        self.kinds, self.labels = {"up": "gauge"}, {"up": {}}

    def add(self, name, kind, labels):
        self.kinds[name] = kind
        values = self.labels.setdefault(name, {})
        for label, value in labels:
            values.setdefault(label, set()).add(value)

    def add_metrics(self, text):
        for metric in parse(text).values():
            for suffix, labels in metric.samples:
                self.add(metric.name + suffix, "gauge" if metric.type == "gauge" else "counter", labels)


class Expression:
    """An expression of PromQL: the series that it names, each with its matchers and functions around, the labels that
    it groups or matches by, and those that it keeps."""

    def __init__(self, text):
        self.text, self.series, self.kept, self.groups = text, [], set(), set()
        tokens, functions, at = TOKEN.findall(text), [], 0
        while at < len(tokens):
            token = tokens[at]
            following = tokens[at + 1] if at + 1 < len(tokens) else ""
            if token in LISTS:
                end = tokens.index(")", at) if following == "(" else at
                listed = set(tokens[at + 2:end]) - {","}
                self.groups |= listed
                self.kept |= listed if token == "by" else set()
                at = end
            elif token == "(":
                functions.append("")
            elif token == ")":
                functions.pop()
            elif token == "[":
                at = tokens.index("]", at)
            elif re.match(r"[a-zA-Z_:]", token) and token not in WORDS:
                if following == "(":
                    functions.append(token)
                    at += 1
                elif following not in ("by", "without"):
                    end = tokens.index("}", at) if following == "{" else at
                    self.series.append((token, re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', "".join(tokens[at + 1:end])),
                                        [f for f in functions if f]))
                    at = end
            at += 1
        assert not functions, f"parentheses: {text}"

    def check(self, names, where, shows=True):
        known = set(OF_TARGETS)
        for name, matchers, functions in self.series:
            assert name in names.kinds, f"{where}: no metric is called {name}: {self.text}"
            known |= set(names.labels[name])
            grows = names.kinds[name] == "counter"
            assert not shows or grows == bool(GROWTH & set(functions)) or "changes" in functions, f"{where}: {name} needs rate() or not"
            for label, operator, value in matchers:
                if label in OF_TARGETS:
                    continue
                values = names.labels[name].get(label)
                assert values, f"{where}: {name} has no label {label}"
                assert value.startswith("$") or operator in ("=~", "!~") and any(re.fullmatch(value, v) for v in values) \
                    or value in values, f"{where}: {name} has no {label} {value}"
            if "histogram_quantile" in functions:
                assert name.endswith("_bucket"), f"{where}: {name} has no buckets"
        assert self.groups <= known, f"{where}: no series has the labels {self.groups - known}"
        return known & self.kept if self.kept else known


def rules():
    return [rule for group in yaml.safe_load(read(RULES))["groups"] for rule in group["rules"]]


def dashboard():
    return json.loads(read(DASHBOARD))


def queries(board):
    """(where, expression, legend) of the dashboard's panels and annotations."""
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield f"panel {panel['title']}", target["expr"], target["legendFormat"]
    for annotation in board["annotations"]["list"]:
        yield f"annotation {annotation['name']}", annotation["expr"], annotation["titleFormat"]


def plain(query):
    """A query without the variables of Grafana that stand for times."""
    return query.replace("$__rate_interval", "1m")


def check_texts(where, texts, labels):
    for label in re.findall(r"\{\{ *(?:\$labels\.)?(\w+) *\}\}", " ".join(texts)):
        assert label in labels | {"alertname"}, f"{where}: the text names the label {label}, of {labels}"


def check_rules(names):
    for rule in rules():
        where = rule.get("record") or rule["alert"]
        labels = Expression(rule["expr"]).check(names, where)
        if "record" in rule:
            names.add(where, "gauge", [(label, ".*") for label in labels - OF_TARGETS])
        else:
            assert set(rule["annotations"]) == {"summary", "description"} and rule["labels"]["severity"], where
            check_texts(where, rule["annotations"].values(), labels)
            assert f"| `{where}` |" in read(PAGE), f"{where} is not in {PAGE}"


def check_counters(texts):
    """Each counter of a server in docs/REPORT.md, which has all lists, is a metric with its sentence as help."""
    helps = {metric.help for text in texts for metric in parse(text).values()}
    tables = re.findall(r"<!-- \w+ in `(server[\w.]*|matches\[\])` -->\n((?:\|.*\n)*)", read(REPORT))
    rows = [(place, key, sentence) for place, table in tables
            for key, sentence in re.findall(r"^\| `[\w.\[\]]*?(\w+)` \|.*\| (.*) \|$", table, re.M)]
    elsewhere = {key for place, key, _ in rows if place == "server"}
    count = 0
    for place, key, sentence in rows:
        if place != "matches[]" or key not in elsewhere and not sentence.startswith("As `"):
            assert sentence in helps, f"the counter {place}.{key} is no metric: {sentence}"
            count += 1
    assert count > 80, count
    return count


def check_tests():
    alerts = {rule["alert"] for rule in rules() if "alert" in rule}
    outcomes = {(part["alertname"], bool(part["exp_alerts"]))
                for test in yaml.safe_load(read(TESTS))["tests"] for part in test["alert_rule_test"]}
    assert outcomes == {(alert, fires) for alert in alerts for fires in (True, False)}, \
        f"{TESTS} lacks or has too much: {outcomes ^ {(a, f) for a in alerts for f in (True, False)}}"


def check_panels(board):
    taken, ids = set(), set()
    for panel in board["panels"]:
        title, place = panel["title"], panel["gridPos"]
        assert panel["id"] not in ids, f"panel {title}: id"
        ids.add(panel["id"])
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, f"panel {title} overlaps"
        taken |= cells
        if panel["type"] != "row":
            assert panel["description"].endswith(".") and panel["fieldConfig"]["defaults"]["unit"], f"panel {title}"
            refs = [target["refId"] for target in panel["targets"]]
            assert refs and len(set(refs)) == len(refs), f"panel {title}: targets"
    variables = {variable["name"] for variable in board["templating"]["list"]} | {"__rate_interval", "__all"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(board)))
    assert used == variables | (used & {"__all"}), f"variables: {used ^ variables}"


def check_names(files):
    names, texts = Names(), []
    for path in files:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
        names.add_metrics(texts[-1])
    exported, counters = len(names.kinds), check_counters(texts)
    check_rules(names)
    check_tests()
    board = dashboard()
    check_panels(board)
    names.add("ALERTS", "gauge", [("alertname", ""), ("alertstate", "firing")])
    count = 0
    for where, query, legend in queries(board):
        check_texts(where, [legend], Expression(plain(query)).check(names, where))
        count += 1
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
            assert label in Expression(selector).check(names, variable["name"], shows=False), variable["name"]
    print(f"{counters} counters are metrics; {len(rules())} rules and {count} queries name only what is among {exported} series")


def ask(url, query):
    with urllib.request.urlopen(f"{url}/api/v1/query?" + urllib.parse.urlencode({"query": query}), timeout=60) as answer:
        result = json.load(answer)
    assert result["status"] == "success", result
    return result["data"]["result"]


def answered(query):
    """A query that has a sample whenever its series have: its comparisons give 0 or 1."""
    parts = re.split(r"(\{[^}]*\})", query)
    return "".join(part if part.startswith("{") else re.sub(r"([<>]=?|[!=]=)(?! *(?:bool|on))", r"\1 bool ", part)
                   for part in parts).replace("> on (", "> bool on (")


def check_answers(url, target):
    board = dashboard()
    everything = {"$job": "hindcast", "$instance": re.escape(target), "$match": ".*"}
    wanted = [(rule.get("record") or rule["alert"], rule.get("record") or rule["expr"]) for rule in rules()]
    wanted += [(where, query) for where, query, _ in queries(board) if "ALERTS" not in query]
    open_queries = []
    for where, query in wanted:
        query = plain(query)
        for variable, value in everything.items():
            query = query.replace(variable, value.replace("\\", "\\\\"))
        open_queries.append((where, answered(query)))
    end = time.monotonic() + AWAIT_S
    count = len(open_queries)
    while open_queries and time.monotonic() < end:
        open_queries = [(where, query) for where, query in open_queries if not ask(url, query)]
        time.sleep(0.5)
    assert not open_queries, "no sample:\n" + "\n".join(f"{where}: {query}" for where, query in open_queries)
    with urllib.request.urlopen(f"{url}/api/v1/rules", timeout=60) as answer:
        groups = json.load(answer)["data"]["groups"]
    for rule in [rule for group in groups for rule in group["rules"]]:
        assert rule["health"] == "ok", rule
    print(f"{count} expressions have samples")


def main():
    if sys.argv[1] == "names":
        check_names(sys.argv[2:])
    else:
        check_answers(sys.argv[2], sys.argv[3])


if __name__ == "__main__":
    main()
