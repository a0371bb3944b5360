#include "common/report.h"

json_t *hc_report_ratio(double part, double whole) {
    return whole > 0 ? json_real(part / whole) : json_null();
}

json_t *hc_report_unknown(const char *const *keys) {
    json_t *object = json_object();
    for (; *keys != NULL; keys++)
        json_object_set_new(object, *keys, json_null());
    return object;
}

json_t *hc_report_unknown_histogram(void) {
    return hc_report_unknown((const char *const[]){"p50", "p90", "p99", "max", "count", NULL});
}

json_t *hc_report_histogram(const struct hc_histogram *values, double unit) {
    static const struct {
        const char *key;
        uint32_t permille;
    } rows[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"max", 1000}};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t value = hc_histogram_percentile(values, rows[i].permille);
        json_object_set_new(object, rows[i].key,
                            values->count == 0 ? json_null()
                            : unit > 1         ? json_real((double)value / unit)
                                               : json_integer((json_int_t)value));
    }
    json_object_set_new(object, "count", json_integer((json_int_t)values->count));
    return object;
}

json_t *hc_report_rejected(const uint64_t counts[HC_STATUS_COUNT]) {
    json_t *object = json_object();
    for (unsigned i = 0; i < HC_STATUS_COUNT; i++)
        if (counts[i] > 0)
            json_object_set_new(object, hc_status_text((enum hc_status)i),
                                json_integer((json_int_t)counts[i]));
    return object;
}
