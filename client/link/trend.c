/// Follows the client clock's samples over minutes.
#include "client/link/trend.h"

#include "common/elapsed.h"

static const struct hc_cl_trend_sample *back(const struct hc_cl_trend *trend, uint32_t periods) {
    return &trend->best[(trend->newest + HC_CL_TREND_PERIODS - periods) % HC_CL_TREND_PERIODS];
}

static uint64_t least_rtt_us(const struct hc_cl_trend *trend, uint64_t within_us, uint64_t now_us) {
    uint64_t least_us = back(trend, 0)->rtt_us;
    for (uint32_t i = 1; i < trend->count; i++) {
        const struct hc_cl_trend_sample *sample = back(trend, i);
        if (hc_since(sample->at_us, now_us) > within_us)
            break;
        least_us = sample->rtt_us < least_us ? sample->rtt_us : least_us;
    }
    return least_us;
}

/// Fits a line to the offsets. Times and offsets are relative to those of the newest sample, so
/// that they are small.
static void fit(struct hc_cl_trend *trend, uint64_t now_us) {
    const struct hc_cl_trend_sample *newest = back(trend, 0);
    uint64_t least_us = least_rtt_us(trend, UINT64_MAX, now_us);
    double weights = 0, t = 0, y = 0, tt = 0, ty = 0;
    for (uint32_t i = 0; i < trend->count; i++) {
        const struct hc_cl_trend_sample *sample = back(trend, i);
        double error_us = HC_CL_TREND_JITTER_US + (double)hc_since(least_us, sample->rtt_us) / 2;
        double weight = 1 / (error_us * error_us);
        double at_s = (double)hc_offset(newest->at_us, sample->at_us) * 1e-6;
        double offset_us =
            (double)hc_offset((uint64_t)newest->offset_us, (uint64_t)sample->offset_us);
        weights += weight;
        t += weight * at_s;
        y += weight * offset_us;
        tt += weight * at_s * at_s;
        ty += weight * at_s * offset_us;
    }
    double spread = tt - t * t / weights; // its inverse is the variance of the slope
    double error_ppm = HC_CL_TREND_ERROR_PPM;
    trend->drift_known = spread * error_ppm * error_ppm >= 1;
    trend->drift_ppm = trend->drift_known ? (ty - t * y / weights) / spread : 0;
}

void hc_cl_trend_sample(struct hc_cl_trend *trend, uint64_t now_us, uint64_t rtt_us,
                        uint64_t server_us) {
    struct hc_cl_trend_sample sample = {
        .at_us = now_us, .rtt_us = rtt_us, .offset_us = hc_offset(now_us, server_us + rtt_us / 2)};
    bool begins = trend->count == 0 || hc_since(trend->period_us, now_us) >= HC_CL_TREND_PERIOD_US;
    if (begins && trend->count > 0)
        fit(trend, now_us);
    if (begins) {
        trend->period_us = now_us;
        trend->newest = (trend->newest + 1) % HC_CL_TREND_PERIODS;
        trend->count += trend->count < HC_CL_TREND_PERIODS;
    }
    if (begins || rtt_us <= trend->best[trend->newest].rtt_us)
        trend->best[trend->newest] = sample;
    trend->rtt_min_us = least_rtt_us(trend, HC_CL_TREND_RTT_US, now_us);
}

void hc_cl_trend_restart(struct hc_cl_trend *trend) {
    *trend = (struct hc_cl_trend){.count = 0};
}
