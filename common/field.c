/// The fields of tables: their names, and the values that are written to them.
#include "hindcast/check.h"
#include "hindcast/game.h"

#include <string.h>

int hc_kind_field(const struct hc_kind *kind, const char *name) {
    for (unsigned i = 0; i < kind->field_count && name != NULL; i++)
        if (strcmp(kind->fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

void hc_field_set(const struct hc_field *field, void *data, int64_t value) {
    HC_ASSERT(hc_field_fits(field, value));
    uint8_t *to = (uint8_t *)data + field->offset;
    if (field->size == 1) {
        to[0] = (uint8_t)value;
    } else if (field->size == 2) {
        uint16_t u16 = (uint16_t)value;
        memcpy(to, &u16, sizeof u16);
    } else {
        uint32_t u32 = (uint32_t)value;
        memcpy(to, &u32, sizeof u32);
    }
}

bool hc_field_fits(const struct hc_field *field, int64_t value) {
    if (!field->is_signed)
        return value >= 0 && value < INT64_C(1) << field->bits;
    int64_t half = INT64_C(1) << (field->bits - 1);
    return value >= -half && value < half;
}
