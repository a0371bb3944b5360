// Runs a program of the preset `wasm`:  node command.mjs FILE [ARGUMENT...]
import { randomFillSync } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { run } from './wasi.mjs';

function write(file, bytes) {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes.subarray(at));
}

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
process.exitCode = run(module, process.argv.slice(2), { write, random: randomFillSync });
