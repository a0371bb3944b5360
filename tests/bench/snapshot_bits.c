/// The parts of a snapshot, written once more to measure them.
#include "tests/bench/snapshot_bits.h"

static uint64_t names_of(const struct hc_sv_builder *builder) {
    static uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_bits_writer bits = hc_bits_writer(bytes, sizeof bytes);
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        if (builder->selections[i].chosen)
            units[count++] = builder->selections[i].name;
    hc_snapshot_put_names(&bits, &builder->header, &builder->base, units, count);
    return hc_bits_written(&bits);
}

static uint64_t inputs_of(const struct hc_sv_builder *builder,
                          const struct hc_sv_selection *selection) {
    static uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_bits_writer bits = hc_bits_writer(bytes, sizeof bytes);
    struct hc_snapshot_inputs inputs = hc_sv_builder_inputs(builder, selection);
    hc_snapshot_put_inputs(&bits, builder->timeline, &builder->replicator->encoder.codec,
                           &selection->value->unit, &inputs);
    return hc_bits_written(&bits);
}

void bench_snapshot_bits_add(struct bench_snapshot_bits *bits,
                             const struct hc_sv_builder *builder) {
    static uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_bits_writer header = hc_bits_writer(bytes, sizeof bytes);
    struct bench_snapshot_bits now = {.names = names_of(builder)};
    hc_snapshot_put(&header, &builder->header);
    now.header = hc_bits_written(&header) + 2;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        bool player = hc_unit_player(builder->world, selection->name.unit) != HC_NO_PLAYER;
        if (!selection->chosen || selection->value == NULL)
            continue;
        *(!player ? &now.unowned : selection->own ? &now.own : &now.others) += selection->delta;
        if (player)
            now.inputs += inputs_of(builder, selection);
    }
    now.all = hc_bits_written(&builder->bits);
    now.corrections =
        now.all - now.header - now.names - now.own - now.others - now.unowned - now.inputs;
    bits->header += now.header;
    bits->names += now.names;
    bits->own += now.own;
    bits->others += now.others;
    bits->unowned += now.unowned;
    bits->inputs += now.inputs;
    bits->corrections += now.corrections;
    bits->all += now.all;
}
