/// Fuzz actions: taking them, and their values, off the input.
#include "tests/fuzz/actions.h"

#include <string.h>

bool fuzz_action_next(struct fuzz_source *input, struct fuzz_action *action) {
    if (input->left < 2)
        return false;
    size_t size = input->bytes[1] < input->left - 2 ? input->bytes[1] : input->left - 2;
    action->kind = input->bytes[0];
    action->source = (struct fuzz_source){.bytes = input->bytes + 2, .left = size};
    input->bytes += 2 + size;
    input->left -= 2 + size;
    return true;
}

uint8_t fuzz_take(struct fuzz_source *source) {
    if (source->left == 0)
        return 0;
    source->left--;
    return *source->bytes++;
}

uint64_t fuzz_take_number(struct fuzz_source *source, unsigned size) {
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)fuzz_take(source) << 8 * i;
    return number;
}

void fuzz_take_bytes(struct fuzz_source *source, void *out, size_t size) {
    size_t there = size < source->left ? size : source->left;
    memset(out, 0, size);
    if (there > 0)
        memcpy(out, source->bytes, there);
    source->bytes += there;
    source->left -= there;
}
