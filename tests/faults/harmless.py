"""Mutants that leave every answer, every byte and every counter as it was, so that no test can find them.

The key is the file, and the mutant as planted.py prints it; the value says why it is harmless. They are not
drawn. A survivor of another kind needs a test or an assertion.
"""

HARMLESS = {
    "common/bits.c: 0  ->  1  at 16 in  return k > 0 ? bits - k : bits - 1;":
        "the two are equal at k = 1",
    "common/extrapolate.c: out  ->  (out + 1)  at 16 in  memcpy(out, from->input, world->game->input_size);":
        "a value's known input is before its tick, so the branch is never taken",
    "common/inputs.c: <  ->  <=  at 56 in  "
    "if (in->joined[p] && in->inputs_through[p] + 1 < first) // else the next slot is unknown":
        "looks at an unknown slot in vain; time only",
    "common/inputs.c: 1  ->  0  at 54 in  "
    "if (in->joined[p] && in->inputs_through[p] + 1 < first) // else the next slot is unknown":
        "looks at an unknown slot in vain; time only",
    "common/stepping.c: tl->reduce[row.slot] = 0;  ->  ;":
        "the reductions are computed once more; time only",
    "proto/precheck.c: pass_plain(&walk);  ->  ;":
        "it only passes several plain values at once; time only",
    "server/forged.c: 18  ->  19  at 17 in  uint8_t key[18] = {0};":
        "a key of one zero byte more: the same sources share a count",
    "server/replication/corrections.c: looks = true;  ->  ;":
        "the same sight is had again; time only",
    "client/predict.c: &&  ->  ||  at 29 in  "
    "if (inputs->players > 0 && head < due && end >= inputs->next)":
        "a tick that has its input is left alone, and a spectator has no inputs",
    "client/world/snapshot_reader.c: hc_cl_baselines_clear(&reader->baselines);  ->  ;":
        "fresh memory is zeros, and no snapshot is of tick 0",
}
