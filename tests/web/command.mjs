// Runs a program of the preset `wasm`:  node command.mjs FILE [ARGUMENT...]
//
// It has the functions of WASI that such a program imports, and no files: it writes to standard output
// and standard error.
import { randomFillSync } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';

const BAD_FILE = 8;
const words = process.argv.slice(2).map((word) => new TextEncoder().encode(word + '\0'));
let memory;
const view = () => new DataView(memory.buffer);
const bytes = (at, size) => new Uint8Array(memory.buffer, at, size);

class Exit extends Error {
    constructor(status) {
        super(`exit status ${status}`);
        this.status = status;
    }
}

const wasi = {
    args_sizes_get(count, size) {
        view().setUint32(count, words.length, true);
        view().setUint32(
            size,
            words.reduce((sum, word) => sum + word.length, 0),
            true,
        );
        return 0;
    },
    args_get(places, at) {
        for (const word of words) {
            view().setUint32(places, at, true);
            bytes(at, word.length).set(word);
            places += 4;
            at += word.length;
        }
        return 0;
    },
    fd_write(file, parts, count, written) {
        let total = 0;
        for (let i = 0; i < count; i++) {
            const size = view().getUint32(parts + 8 * i + 4, true);
            for (let at = view().getUint32(parts + 8 * i, true), end = at + size; at < end;)
                at += writeSync(file, bytes(at, end - at));
            total += size;
        }
        view().setUint32(written, total, true);
        return 0;
    },
    fd_fdstat_get: (file) => (file <= 2 ? 0 : BAD_FILE),
    fd_seek: () => BAD_FILE,
    fd_close: () => BAD_FILE,
    random_get(at, size) {
        randomFillSync(bytes(at, size));
        return 0;
    },
    proc_exit(status) {
        throw new Exit(status);
    },
};

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi });
memory = instance.exports.memory;
try {
    instance.exports._start();
} catch (error) {
    if (!(error instanceof Exit)) throw error;
    process.exitCode = error.status;
}
