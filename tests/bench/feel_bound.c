/// Prints figures beside their bounds.
#include "tests/bench/feel_bound.h"

#include <stdio.h>

enum { FAR = 10 }; ///< times its bound: more is an error

bool feel_is_near(double value, double most) {
    return value <= FAR * most;
}

bool feel_bounds(const struct feel_bound *bounds, unsigned count, json_t *json) {
    bool near = true;
    for (unsigned i = 0; i < count; i++) {
        const struct feel_bound *bound = &bounds[i];
        bool held = bound->value <= bound->most;
        printf("  %-58s %8.2f %-5s must: at most %g%s\n", bound->what, bound->value, bound->unit,
               bound->most, held ? "" : "   NOT HELD");
        json_array_append_new(json,
                              json_pack("{s:s,s:s,s:s,s:f,s:f,s:b}", "table", bound->table, "bound",
                                        bound->what, "unit", bound->unit, "value", bound->value,
                                        "most", bound->most, "held", (int)held));
        near = feel_is_near(bound->value, bound->most) && near;
    }
    return near;
}
