/// The benchmarks: programs of their own, never timed tests.
#pragma once

/// Prints what snapshots take, what they cost and what they buy; `count` arguments are its own
/// options. 0, 1 when it could not run, 2 for options that it does not know.
int bench_snapshots(int count, char **arguments);

/// Prints what a step and a resimulated tick of the timeline cost; 0, or 1 when it could not run.
/// There is nothing to draw: `path` must be NULL.
int bench_timeline(const char *path);

/// Prints how wrong a client's prediction of itself is with snapshots of T and with those of the
/// head; draws a part of it as SVG to `path` unless that is NULL. 0, or 1 when it could not run.
int bench_rubber_band(const char *path);
