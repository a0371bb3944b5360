#!/usr/bin/env python3
"""Reads metrics of Prometheus (text format 0.0.4), more strictly than Prometheus does.

usage: metrics.py [--same EARLIER] FILE

Checks what the format demands, and the conventions: each metric has HELP and TYPE once, before its samples, which
stand together; names have base units, and `_total` exactly if they only grow; no sample comes twice; the buckets of a
histogram ascend, are cumulative, and end with +Inf, which equals `_count`. With --same no counter of EARLIER is greater
than in FILE. Prints the number of metrics and of samples. promtool, where there is one, checks the file too.
"""
import re
import shutil
import subprocess
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABELS = r'\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"(?:,(?!\})|(?=\})))*\}'
SAMPLE = re.compile(rf"({NAME})({LABELS})? (\d+(?:\.\d+)?)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
WRONG_UNITS = {"ms", "milliseconds", "us", "microseconds", "kb", "kbytes", "bits", "minutes", "count"}
ALLOWED = {"match", "le", "cause", "level", "reason", "version"}


class Metric:
    def __init__(self, name, help_text):
        self.name, self.help, self.type, self.samples = name, help_text, None, {}


def parse(text):
    """The metrics of a text by name; each has its samples by suffix and labels."""
    metrics, current = {}, None
    assert text.endswith("\n"), "the last line has no end"
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            _, _, name, help_text = line.split(" ", 3)
            assert name not in metrics, f"{name} begins twice"
            assert help_text.strip() and help_text.endswith("."), f"{name}: '{help_text}' is no sentence"
            current = metrics[name] = Metric(name, help_text)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert current and name == current.name and current.type is None and not current.samples, line
            assert kind in ("counter", "gauge", "histogram"), line
            current.type = kind
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, f"no sample: {line}"
            name, labels, value = sample.groups()
            assert current and current.type and name.startswith(current.name), f"{line} is not of {current.name}"
            pairs = LABEL.findall(labels or "")
            key = (name[len(current.name):], tuple(sorted(pairs)))
            assert len(dict(pairs)) == len(pairs) and key not in current.samples, f"twice: {line}"
            assert set(dict(pairs)) <= ALLOWED, f"label: {line}"
            current.samples[key] = float(value)
    return metrics


def check_histogram(metric):
    series = {}
    for (suffix, labels), value in metric.samples.items():
        assert suffix in ("_bucket", "_sum", "_count"), (metric.name, suffix)
        others = tuple(pair for pair in labels if pair[0] != "le")
        entry = series.setdefault(others, {"buckets": []})
        if suffix == "_bucket":
            entry["buckets"].append((float(dict(labels)["le"].replace("+Inf", "inf")), value))
        else:
            assert others == labels and suffix not in entry
            entry[suffix] = value
    for entry in series.values():
        bounds = [bound for bound, _ in entry["buckets"]]
        counts = [count for _, count in entry["buckets"]]
        assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), (metric.name, bounds)
        assert counts == sorted(counts) and counts[-1] == entry["_count"], (metric.name, counts)
        assert "_sum" in entry and (entry["_count"] > 0 or entry["_sum"] == 0), metric.name


def check(metrics):
    for metric in metrics.values():
        words = metric.name.split("_")
        assert metric.name.startswith("hindcast_") and metric.samples, metric.name
        assert not set(words) & WRONG_UNITS, metric.name
        assert (words[-1] == "total") == (metric.type == "counter"), metric.name
        for unit in ("seconds", "bytes"):
            at = [i for i, word in enumerate(words) if word == unit]
            assert at in ([], [len(words) - 1 - (metric.type == "counter")]), metric.name
        if metric.type == "histogram":
            check_histogram(metric)
        else:
            assert all(suffix == "" for suffix, _ in metric.samples), metric.name


def check_growth(earlier, later):
    for metric in earlier.values():
        if metric.type == "gauge":
            continue
        for key, value in metric.samples.items():
            assert later[metric.name].samples[key] >= value, (metric.name, key)


def main():
    arguments = sys.argv[1:]
    earlier = None
    if arguments[0] == "--same":
        with open(arguments[1], encoding="utf-8") as file:
            earlier = parse(file.read())
        arguments = arguments[2:]
    with open(arguments[0], encoding="utf-8") as file:
        text = file.read()
    metrics = parse(text)
    check(metrics)
    if earlier is not None:
        check_growth(earlier, metrics)
    if shutil.which("promtool"):
        subprocess.run(["promtool", "check", "metrics"], input=text, text=True, check=True)
    print(len(metrics), sum(len(metric.samples) for metric in metrics.values()))


if __name__ == "__main__":
    main()
