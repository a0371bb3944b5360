/// The sine table, the square root, and the functions computed from them.
#include "hindcast/fixed.h"

enum { QUARTER = HC_FIXED_TURN / 4 };

/// round(2^14 * sin(i / 256 * 90 degrees)).
static const int16_t quarter_sine[QUARTER + 1] = {
    0,     101,   201,   302,   402,   503,   603,   704,   804,   904,   1005,  1105,  1205,
    1306,  1406,  1506,  1606,  1706,  1806,  1906,  2006,  2105,  2205,  2305,  2404,  2503,
    2603,  2702,  2801,  2900,  2999,  3098,  3196,  3295,  3393,  3492,  3590,  3688,  3786,
    3883,  3981,  4078,  4176,  4273,  4370,  4467,  4563,  4660,  4756,  4852,  4948,  5044,
    5139,  5235,  5330,  5425,  5520,  5614,  5708,  5803,  5897,  5990,  6084,  6177,  6270,
    6363,  6455,  6547,  6639,  6731,  6823,  6914,  7005,  7096,  7186,  7276,  7366,  7456,
    7545,  7635,  7723,  7812,  7900,  7988,  8076,  8163,  8250,  8337,  8423,  8509,  8595,
    8680,  8765,  8850,  8935,  9019,  9102,  9186,  9269,  9352,  9434,  9516,  9598,  9679,
    9760,  9841,  9921,  10001, 10080, 10159, 10238, 10316, 10394, 10471, 10549, 10625, 10702,
    10778, 10853, 10928, 11003, 11077, 11151, 11224, 11297, 11370, 11442, 11514, 11585, 11656,
    11727, 11797, 11866, 11935, 12004, 12072, 12140, 12207, 12274, 12340, 12406, 12472, 12537,
    12601, 12665, 12729, 12792, 12854, 12916, 12978, 13039, 13100, 13160, 13219, 13279, 13337,
    13395, 13453, 13510, 13567, 13623, 13678, 13733, 13788, 13842, 13896, 13949, 14001, 14053,
    14104, 14155, 14206, 14256, 14305, 14354, 14402, 14449, 14497, 14543, 14589, 14635, 14680,
    14724, 14768, 14811, 14854, 14896, 14937, 14978, 15019, 15059, 15098, 15137, 15175, 15213,
    15250, 15286, 15322, 15357, 15392, 15426, 15460, 15493, 15525, 15557, 15588, 15619, 15649,
    15679, 15707, 15736, 15763, 15791, 15817, 15843, 15868, 15893, 15917, 15941, 15964, 15986,
    16008, 16029, 16049, 16069, 16088, 16107, 16125, 16143, 16160, 16176, 16192, 16207, 16221,
    16235, 16248, 16261, 16273, 16284, 16295, 16305, 16315, 16324, 16332, 16340, 16347, 16353,
    16359, 16364, 16369, 16373, 16376, 16379, 16381, 16383, 16384, 16384};

uint32_t hc_fixed_sqrt(uint64_t value) {
    // Digit by digit in base 2: `root` holds the digits found, shifted to their places.
    uint64_t root = 0;
    for (uint64_t digit = UINT64_C(1) << 62; digit != 0; digit >>= 2) {
        if (value >= root + digit) {
            value -= root + digit;
            root = (root >> 1) + digit;
        } else {
            root >>= 1;
        }
    }
    return (uint32_t)root;
}

static uint64_t square_length(int64_t x, int64_t y) {
    return (uint64_t)(x * x) + (uint64_t)(y * y);
}

uint32_t hc_fixed_length(int32_t x, int32_t y) {
    return hc_fixed_sqrt(square_length(x, y));
}

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

void hc_fixed_set_length(int32_t *x, int32_t *y, int32_t length) {
    HC_ASSERT(length >= 0);
    int64_t wide_x = *x, wide_y = *y;
    if (wide_x == 0 && wide_y == 0)
        return;
    // The root is rounded down. Scaling a short vector up first makes that error small.
    while (magnitude(wide_x) < 1 << 30 && magnitude(wide_y) < 1 << 30) {
        wide_x *= 2;
        wide_y *= 2;
    }
    int64_t divisor = hc_fixed_sqrt(square_length(wide_x, wide_y));
    *x = (int32_t)hc_fixed_clamp(wide_x * length / divisor, -length, length);
    *y = (int32_t)hc_fixed_clamp(wide_y * length / divisor, -length, length);
}

void hc_fixed_limit_length(int32_t *x, int32_t *y, int32_t length) {
    HC_ASSERT(length >= 0);
    if (square_length(*x, *y) > (uint64_t)length * (uint64_t)length)
        hc_fixed_set_length(x, y, length);
}

int32_t hc_fixed_sin(uint32_t angle) {
    uint32_t step = angle % QUARTER;
    switch (angle / QUARTER % 4) {
    case 0:
        return quarter_sine[step];
    case 1:
        return quarter_sine[QUARTER - step];
    case 2:
        return -quarter_sine[step];
    default:
        return -quarter_sine[QUARTER - step];
    }
}

int32_t hc_fixed_cos(uint32_t angle) {
    return hc_fixed_sin(angle + QUARTER);
}

/// The cross product of the direction of `angle` and (x, y): negative when `angle` is beyond it.
static int64_t ahead(uint32_t angle, int64_t x, int64_t y) {
    return y * hc_fixed_cos(angle) - x * hc_fixed_sin(angle);
}

/// The nearest step to the angle of (x, y), in [0, QUARTER]; `x`, `y` >= 0.
static uint32_t quarter_angle(int64_t x, int64_t y) {
    uint32_t low = 0, beyond = QUARTER + 1;
    while (beyond - low > 1) {
        uint32_t middle = (low + beyond) / 2;
        if (ahead(middle, x, y) >= 0)
            low = middle;
        else
            beyond = middle;
    }
    if (low == QUARTER)
        return low;
    return ahead(low, x, y) <= -ahead(low + 1, x, y) ? low : low + 1;
}

uint32_t hc_fixed_angle(int32_t x, int32_t y) {
    if (x == 0 && y == 0)
        return 0;
    uint32_t angle = quarter_angle(magnitude(x), magnitude(y));
    if (x < 0)
        angle = HC_FIXED_TURN / 2 - angle;
    if (y < 0)
        angle = HC_FIXED_TURN - angle;
    return angle % HC_FIXED_TURN;
}
