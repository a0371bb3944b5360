/// Corrections: the units that a client may show wrongly at past ticks, at the end of a snapshot.
///
/// A rewind changes ticks that the client was sent, and a snapshot that is lost leaves ticks that
/// it never received. As long as the client may still show such a tick, each snapshot carries the
/// values that it does not hold, nor is about to, the newest tick first.
#pragma once

struct hc_sv_builder;

/// Appends corrections, as many as fit, and logs them as sent. The units are written and logged.
void hc_sv_corrections_put(struct hc_sv_builder *builder);
