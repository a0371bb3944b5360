// Runs programs of the preset `wasm`, in Node and in pages: the functions of WASI that such a program imports, and
// no files.

const BAD_FILE = 8;

class Exit extends Error {
    constructor(status) {
        super(`exit status ${status}`);
        this.status = status;
    }
}

/**
 * Runs a module as a program with these words, the first of which is its name, and returns its exit status.
 * `write(file, bytes)` gets what it writes to file 1 or 2, and `random(bytes)` fills bytes.
 */
export function run(module, words, { write, random }) {
    const texts = words.map((word) => new TextEncoder().encode(word + '\0'));
    let memory;
    const view = () => new DataView(memory.buffer);
    const bytes = (at, size) => new Uint8Array(memory.buffer, at, size);
    const wasi = {
        args_sizes_get(count, size) {
            view().setUint32(count, texts.length, true);
            view().setUint32(
                size,
                texts.reduce((sum, text) => sum + text.length, 0),
                true,
            );
            return 0;
        },
        args_get(places, at) {
            for (const text of texts) {
                view().setUint32(places, at, true);
                bytes(at, text.length).set(text);
                places += 4;
                at += text.length;
            }
            return 0;
        },
        fd_write(file, parts, count, written) {
            let total = 0;
            for (let i = 0; i < count; i++) {
                const size = view().getUint32(parts + 8 * i + 4, true);
                write(file, bytes(view().getUint32(parts + 8 * i, true), size));
                total += size;
            }
            view().setUint32(written, total, true);
            return 0;
        },
        fd_fdstat_get: (file) => (file <= 2 ? 0 : BAD_FILE),
        fd_seek: () => BAD_FILE,
        fd_close: () => BAD_FILE,
        random_get(at, size) {
            random(bytes(at, size));
            return 0;
        },
        proc_exit(status) {
            throw new Exit(status);
        },
    };
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi });
    memory = instance.exports.memory;
    try {
        instance.exports._start();
    } catch (error) {
        if (!(error instanceof Exit)) throw error;
        return error.status;
    }
    return 0;
}
