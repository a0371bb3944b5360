/// The conditions of --fail-if, such as "rtt_ms.p99>120": a run fails if one of them is true.
#pragma once

#include "client/bots/figures.h"

enum hc_cl_condition_relation {
    HC_CL_CONDITION_LESS,
    HC_CL_CONDITION_AT_MOST,
    HC_CL_CONDITION_GREATER,
    HC_CL_CONDITION_AT_LEAST,
    HC_CL_CONDITION_EQUAL,
    HC_CL_CONDITION_UNEQUAL,
    HC_CL_CONDITION_RELATIONS
};

struct hc_cl_condition {
    char path[HC_CL_FIGURES_PATH_MAX];
    enum hc_cl_condition_relation relation;
    double limit;
};

/// Parses a path, one of < <= > >= == != and a number, with or without blanks between. False: it is
/// none, and `why` says what is wrong.
bool hc_cl_condition_parse(const char *text, struct hc_cl_condition *condition, char *why,
                           size_t why_size);

/// Whether the report may have the condition's figure, by its `shape`; otherwise `why` says what is
/// wrong, and names the figures near it.
bool hc_cl_condition_check(const struct hc_cl_condition *condition, const json_t *shape, char *why,
                           size_t why_size);

/// The outcome of a condition in a report, which the caller releases: `{condition, value, ok,
/// text}`. A figure without a value is not OK: a condition about what is not known is no success.
json_t *hc_cl_condition_judge(const struct hc_cl_condition *condition, const json_t *report);
