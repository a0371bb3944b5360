/// The benchmarks: programs of their own, never timed tests.
#pragma once

/// Prints what a step and a resimulated tick of the timeline cost; 0, or 1 when it could not run.
int bench_timeline(void);
