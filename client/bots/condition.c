/// Owns the syntax and the outcome of conditions.
#include "client/bots/condition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t";

static const char *const words[HC_CL_CONDITION_RELATIONS] = {
    [HC_CL_CONDITION_LESS] = "<",    [HC_CL_CONDITION_AT_MOST] = "<=",
    [HC_CL_CONDITION_GREATER] = ">", [HC_CL_CONDITION_AT_LEAST] = ">=",
    [HC_CL_CONDITION_EQUAL] = "==",  [HC_CL_CONDITION_UNEQUAL] = "!=",
};

/// Finds the operator that a text begins with; false: it is none.
static bool find_relation(const char *text, enum hc_cl_condition_relation *relation) {
    size_t size = strspn(text, "<>=!");
    for (unsigned i = 0; i < HC_CL_CONDITION_RELATIONS; i++)
        if (strlen(words[i]) == size && strncmp(text, words[i], size) == 0) {
            *relation = (enum hc_cl_condition_relation)i;
            return true;
        }
    return false;
}

bool hc_cl_condition_parse(const char *text, struct hc_cl_condition *condition, char *why,
                           size_t why_size) {
    size_t begin = strspn(text, blanks), end = strcspn(text, "<>=!"), after = end;
    char *rest;
    while (end > begin && strchr(blanks, text[end - 1]) != NULL)
        end--;
    if (end <= begin || end - begin >= sizeof(condition->path)) {
        snprintf(why, why_size,
                 "must be a figure's path, an operator and a number, such as "
                 "rtt_ms.p99>120");
        return false;
    }
    snprintf(condition->path, sizeof(condition->path), "%.*s", (int)(end - begin), text + begin);
    if (!find_relation(text + after, &condition->relation)) {
        snprintf(why, why_size, "must have one of < <= > >= == != behind '%s'", condition->path);
        return false;
    }
    const char *number = text + after + strlen(words[condition->relation]);
    number += strspn(number, blanks);
    condition->limit = strtod(number, &rest);
    rest += strspn(rest, blanks);
    bool begins = (*number >= '0' && *number <= '9') || strchr("+-.", *number) != NULL;
    if (*number != '\0' && begins && *rest == '\0' && isfinite(condition->limit))
        return true;
    snprintf(why, why_size, "must have a number behind '%s'", words[condition->relation]);
    return false;
}

bool hc_cl_condition_check(const struct hc_cl_condition *condition, const json_t *shape, char *why,
                           size_t why_size) {
    return hc_cl_figures_check(shape, condition->path, why, why_size);
}

/// Whether the condition is true of a number.
static bool is_true(const struct hc_cl_condition *condition, double value) {
    switch (condition->relation) {
    case HC_CL_CONDITION_LESS:
        return value < condition->limit;
    case HC_CL_CONDITION_AT_MOST:
        return value <= condition->limit;
    case HC_CL_CONDITION_GREATER:
        return value > condition->limit;
    case HC_CL_CONDITION_AT_LEAST:
        return value >= condition->limit;
    case HC_CL_CONDITION_EQUAL:
        return value == condition->limit;
    default:
        return value != condition->limit;
    }
}

/// The figure's number. Causes that a report leaves out did not occur.
static bool find_number(const struct hc_cl_condition *condition, const json_t *report,
                        double *number) {
    char object[HC_CL_FIGURES_PATH_MAX];
    const char *dot = strrchr(condition->path, '.');
    const json_t *value = hc_cl_figures_find(report, condition->path);
    if (value != NULL || dot == NULL)
        return hc_cl_figures_number(value, number);
    snprintf(object, sizeof(object), "%.*s", (int)(dot - condition->path), condition->path);
    const char *key = strrchr(object, '.') != NULL ? strrchr(object, '.') + 1 : object;
    bool by_cause = strcmp(key, "rejected") == 0 || strcmp(key, "denied_by_reason") == 0;
    *number = 0;
    return by_cause && json_is_object(hc_cl_figures_find(report, object));
}

json_t *hc_cl_condition_judge(const struct hc_cl_condition *condition, const json_t *report) {
    const char *word = words[condition->relation];
    char whole[HC_CL_FIGURES_PATH_MAX + 40], text[2 * HC_CL_FIGURES_PATH_MAX + 120];
    double value = 0;
    bool known = find_number(condition, report, &value);
    bool fails = !known || is_true(condition, value);
    snprintf(whole, sizeof(whole), "%s %s %.9g", condition->path, word, condition->limit);
    if (known)
        snprintf(text, sizeof(text), "%s is %.9g, and %s if it is %s %.9g", condition->path, value,
                 fails ? "the run fails" : "the run would fail", word, condition->limit);
    else
        snprintf(text, sizeof(text), "%s has no value, and the run fails if it is %s %.9g",
                 condition->path, word, condition->limit);
    return json_pack("{s:s, s:o, s:b, s:s}", "condition", whole, "value",
                     known ? json_real(value) : json_null(), "ok", !fails, "text", text);
}
