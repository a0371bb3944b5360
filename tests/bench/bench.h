/// The benchmarks of hc_bench; no test depends on their times.
#pragma once

/// Prints the size of snapshots, their cost and their effect; `count` arguments are its own
/// options. 0, 1 if it could not run, 2 for unknown options.
int bench_snapshots(int count, char **arguments);

/// Prints the cost of rewinds: of whole worlds against copies and steps by hand, and selective ones
/// against full ones; `count` arguments are its own options. 0, 1 if it could not run, 2 for
/// unknown options.
int bench_rewind(int count, char **arguments);

/// Prints the cost of a step and of a resimulated tick of the timeline; 0, or 1 if it could not
/// run. It draws nothing: `path` must be NULL.
int bench_timeline(const char *path);

/// Prints the error of a client's predictions of itself with snapshots of T and with those of the
/// head; draws a part as SVG to `path` unless that is NULL. 0, or 1 if it could not run.
int bench_rubber_band(const char *path);

/// Print the work of a server's and of a client's tick by phases, in matches of several sizes, and
/// its ratio to the work of opening and sealing the same datagrams. 0, 1 if a match could not be
/// played or replayed, 2 for unknown options.
int bench_server(int count, char **arguments);
int bench_client(int count, char **arguments);
