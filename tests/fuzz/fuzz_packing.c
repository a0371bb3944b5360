/// Fuzzes bits, bytes and input runs: writes of any width into any room read back equal, or fail
/// for good; any bytes are read in any widths.
///
/// The input is the room, a byte for the kind, and the values that are written or read.
#include "common/bits.h"
#include "common/bytes.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "proto/input_run.h"
#include "tests/fuzz/actions.h"

#include <string.h>

enum { ROOM_MAX = 255, ITEMS_MAX = 80, TICKS = 24 };

/// One value that is written.
struct item {
    enum { BITS, SIGNED, NUMBER, APPENDED } sort;
    unsigned width; ///< bits; of a number the size of its groups
    uint32_t value;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// ---- Bits ---------------------------------------------------------------------------------------

static uint32_t low(uint32_t value, unsigned bits) {
    return bits == 32 ? value : value & ((UINT32_C(1) << bits) - 1);
}

static struct item take_item(struct fuzz_source *source) {
    uint8_t how = fuzz_take(source);
    struct item item = {.sort = how & 3, .width = 1 + (how >> 2) % 32};
    item.value = (uint32_t)fuzz_take_number(source, 1 + (item.width - 1) / 8);
    if (item.sort == NUMBER)
        item.width = 1 + item.width % 16;
    else
        item.value = low(item.value, item.width);
    return item;
}

static int32_t as_signed(const struct item *item) {
    int64_t half = INT64_C(1) << (item->width - 1), value = item->value;
    return (int32_t)(value >= half ? value - 2 * half : value);
}

static void put_item(struct hc_bits_writer *bits, const struct item *item) {
    uint8_t bytes[4];
    switch (item->sort) {
    case BITS:
        hc_bits_put(bits, item->value, item->width);
        break;
    case SIGNED:
        hc_bits_put_signed(bits, as_signed(item), item->width);
        break;
    case NUMBER:
        hc_bits_put_number(bits, item->value, item->width);
        break;
    case APPENDED:
        for (unsigned i = 0; i < 4; i++)
            bytes[i] = (uint8_t)(item->value >> 8 * i);
        hc_bits_append(bits, bytes, item->width);
    }
}

/// Reads an item of the same sort and width.
static uint32_t get_item(struct hc_bits_reader *bits, const struct item *item) {
    switch (item->sort) {
    case SIGNED:
        return low((uint32_t)hc_bits_get_signed(bits, item->width), item->width);
    case NUMBER:
        return hc_bits_get_number(bits, item->width);
    default:
        return hc_bits_get(bits, item->width);
    }
}

static void try_bits(size_t room, struct fuzz_source *source) {
    uint8_t bytes[ROOM_MAX];
    struct item items[ITEMS_MAX];
    struct hc_bits_writer writer = hc_bits_writer(bytes, room);
    uint32_t count = 0;
    for (; count < ITEMS_MAX && source->left > 0; count++) {
        size_t before = hc_bits_written(&writer);
        items[count] = take_item(source);
        put_item(&writer, &items[count]);
        if (items[count].sort != NUMBER && items[count].sort != APPENDED &&
            !hc_bits_failed(&writer))
            HC_ASSERT(hc_bits_written(&writer) == before + items[count].width);
        HC_ASSERT(hc_bits_failed(&writer) || hc_bits_written(&writer) <= 8 * room);
    }
    size_t used = hc_bits_finish(&writer), most = hc_bits_written(&writer);
    bool failed = hc_bits_failed(&writer);
    HC_ASSERT(used <= room && (used == 0 || !failed) && (failed || most == 8 * used));
    if (failed)
        return;
    struct hc_bits_reader reader = hc_bits_reader(bytes, used);
    for (uint32_t i = 0; i < count; i++)
        HC_ASSERT(get_item(&reader, &items[i]) == items[i].value);
    HC_ASSERT(hc_bits_done(&reader));
    hc_bits_skip(&reader, 9);
    HC_ASSERT(reader.failed && hc_bits_get(&reader, 1) == 0 && !hc_bits_done(&reader));
}

/// Reads a number, which must encode to as many bits.
static void read_number(struct hc_bits_reader *reader, unsigned group) {
    uint8_t bytes[16];
    struct hc_bits_writer writer = hc_bits_writer(bytes, sizeof bytes);
    size_t before = 8 * reader->at - reader->count;
    uint32_t value = hc_bits_get_number(reader, group);
    if (reader->failed)
        return;
    hc_bits_put_number(&writer, value, group);
    HC_ASSERT(hc_bits_written(&writer) == 8 * reader->at - reader->count - before);
}

/// Reads any bytes in any widths: values stay in their ranges, and a failure sticks.
static void read_bits(size_t room, struct fuzz_source *source) {
    uint8_t bytes[ROOM_MAX];
    fuzz_take_bytes(source, bytes, room);
    struct hc_bits_reader reader = hc_bits_reader(bytes, room);
    while (source->left > 0) {
        struct item item = take_item(source);
        bool failed = reader.failed;
        if (item.sort == APPENDED)
            hc_bits_skip(&reader, item.value % 100);
        else if (item.sort == NUMBER)
            read_number(&reader, item.width);
        else
            HC_ASSERT(get_item(&reader, &item) == 0 || !reader.failed);
        HC_ASSERT(!failed || reader.failed);
    }
    (void)hc_bits_get(&reader, 33);
    HC_ASSERT(reader.failed && !hc_bits_done(&reader));
}

// ---- Bytes --------------------------------------------------------------------------------------

static void put_bytes(struct hc_writer *writer, unsigned width, uint64_t value) {
    switch (width) {
    case 1:
        hc_bytes_put_u8(writer, (uint8_t)value);
        break;
    case 2:
        hc_bytes_put_u16(writer, (uint16_t)value);
        break;
    case 4:
        hc_bytes_put_u32(writer, (uint32_t)value);
        break;
    default:
        hc_bytes_put_u64(writer, value);
    }
}

static uint64_t get_bytes(struct hc_reader *reader, unsigned width) {
    switch (width) {
    case 1:
        return hc_bytes_get_u8(reader);
    case 2:
        return hc_bytes_get_u16(reader);
    case 4:
        return hc_bytes_get_u32(reader);
    default:
        return hc_bytes_get_u64(reader);
    }
}

static void try_bytes(size_t room, struct fuzz_source *source) {
    uint8_t bytes[ROOM_MAX], block[ROOM_MAX];
    struct hc_writer writer = hc_bytes_writer(room > 0 ? bytes : NULL, room);
    struct hc_reader reader = hc_bytes_reader(writer.data, writer.size);
    while (source->left > 0) {
        uint8_t how = fuzz_take(source);
        unsigned width = 1u << (how & 3);
        uint64_t value = fuzz_take_number(source, width);
        size_t at = writer.at, many = (size_t)how >> 3;
        if ((how & 4) == 0) {
            put_bytes(&writer, width, value);
            HC_ASSERT(writer.failed ? writer.at == at : writer.at == at + width);
            uint64_t read = get_bytes(&reader, width);
            HC_ASSERT(read == (writer.failed ? 0 : value));
        } else {
            memset(block, how, sizeof block);
            hc_bytes_put(&writer, block, many);
            hc_bytes_get(&reader, block, many);
            for (size_t i = 0; i < many; i++)
                HC_ASSERT(block[i] == (writer.failed ? 0 : how));
        }
        HC_ASSERT(writer.failed == reader.failed);
        HC_ASSERT(hc_bytes_left(&reader) == (writer.failed ? 0 : room - writer.at));
    }
    HC_ASSERT((hc_bytes_take(&reader, 0) == NULL) == reader.failed);
}

// ---- Input runs ---------------------------------------------------------------------------------

static struct hc_arena_input inputs[TICKS][HC_OWN_PLAYERS_MAX];

static const void *input_of(void *context, uint32_t index, uint32_t player) {
    (void)context;
    return &inputs[index][player];
}

/// Packs as many ticks as fit, oldest first, and reads them back.
static void try_run(size_t room, struct fuzz_source *source) {
    uint8_t packed[ROOM_MAX];
    struct hc_input_run run;
    uint32_t players = 1 + fuzz_take(source) % HC_OWN_PLAYERS_MAX;
    uint32_t wanted = fuzz_take(source) % (TICKS + 1);
    memset(inputs, 0, sizeof inputs);
    for (uint32_t i = 0; i < wanted * players; i++) {
        uint8_t how = fuzz_take(source);
        struct hc_arena_input *input = &inputs[i / players][i % players];
        *input = i < players ? (struct hc_arena_input){0} : inputs[i / players - 1][i % players];
        if ((how & 1) == 0)
            continue;
        input->move_x = (int8_t)(how >> 1 & 1);
        input->move_y = (int8_t)(how >> 2 & 1);
        input->fire = how >> 3 & 1;
        input->aim = fuzz_take(source);
    }
    uint32_t count = wanted;
    size_t used = hc_input_run_pack(&hc_arena, players, &count, input_of, NULL, packed, room);
    HC_ASSERT(count <= wanted && used <= room);
    uint32_t again = count;
    HC_ASSERT(hc_input_run_pack(&hc_arena, players, &again, input_of, NULL, packed, used) == used);
    HC_ASSERT(again == count);
    HC_ASSERT(hc_input_run_begin(&run, &hc_arena, players, count, packed, used) == HC_OK);
    for (uint32_t i = 0; i < count * players; i++)
        HC_ASSERT(memcmp(hc_input_run_next(&run), &inputs[i / players][i % players],
                         sizeof inputs[0][0]) == 0);
    HC_ASSERT(hc_input_run_next(&run) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_source source = {.bytes = data, .left = size};
    size_t room = fuzz_take(&source);
    switch (fuzz_take(&source) % 4) {
    case 0:
        try_bits(room, &source);
        break;
    case 1:
        read_bits(room, &source);
        break;
    case 2:
        try_bytes(room, &source);
        break;
    default:
        try_run(room, &source);
    }
    return 0;
}
