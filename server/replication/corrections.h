/// Corrections: values of past ticks that the client still shows, where it holds others.
#pragma once

struct hc_sv_builder;

/// Appends corrections after the selected units, the newest tick first, as many as fit, and logs
/// them as sent.
void hc_sv_corrections_put(struct hc_sv_builder *builder);
