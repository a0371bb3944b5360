#include "tests/fuzz/deeds.h"

#include <string.h>

bool fuzz_deed_next(struct fuzz_choices *input, struct fuzz_deed *deed) {
    if (input->left < 2)
        return false;
    size_t size = input->bytes[1] < input->left - 2 ? input->bytes[1] : input->left - 2;
    deed->which = input->bytes[0];
    deed->selections = (struct fuzz_choices){.bytes = input->bytes + 2, .left = size};
    input->bytes += 2 + size;
    input->left -= 2 + size;
    return true;
}

uint8_t fuzz_choose(struct fuzz_choices *selections) {
    if (selections->left == 0)
        return 0;
    selections->left--;
    return *selections->bytes++;
}

uint64_t fuzz_choose_number(struct fuzz_choices *selections, unsigned size) {
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)fuzz_choose(selections) << 8 * i;
    return number;
}

void fuzz_choose_bytes(struct fuzz_choices *selections, void *out, size_t size) {
    size_t there = size < selections->left ? size : selections->left;
    memset(out, 0, size);
    if (there > 0)
        memcpy(out, selections->bytes, there);
    selections->bytes += there;
    selections->left -= there;
}
