// Owns the module's memory, and the structs in it, which it reads and writes by the layouts of layout.h.

/** An error of the caller, of a file, or of memory; the message names what is wrong. */
export class HindcastError extends Error {}
HindcastError.prototype.name = 'HindcastError';

export const NO_PLAYER = 0xffff;
export const NEVER = 0xffffffffffffffffn;
export const SCRATCH = 8192; // bytes for a struct, and as many for a datagram
export const utf8 = new TextDecoder();
export const toUtf8 = new TextEncoder();

export const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

/** Microseconds as the module takes them. */
export function time(us) {
    if (!(us >= 0 && us < Number.MAX_SAFE_INTEGER))
        throw new HindcastError(`a time is ${us}, but must be microseconds in [0, 2^53)`);
    return BigInt(Math.floor(us));
}

export const fromTime = (us) => (us === NEVER ? Infinity : Number(us));

// The types of web/layout.h, in its order.
const [BOOL, U8, U16, U32, I32, U64, I64, ID, F64, POINTER, STRING, TEXT, BYTES, WORD, STRUCT, HISTOGRAM] =
    Array(16).keys();
export const SIZES = {
    [BOOL]: 1,
    [U8]: 1,
    [U16]: 2,
    [U32]: 4,
    [I32]: 4,
    [U64]: 8,
    [I64]: 8,
    [ID]: 8,
    [F64]: 8,
    [POINTER]: 4,
    [STRING]: 4,
    [WORD]: 4,
};
export const RANGES = {
    [U8]: [0, 0xff],
    [U16]: [0, 0xffff],
    [U32]: [0, 0xffffffff],
    [I32]: [-0x80000000, 0x7fffffff],
    [U64]: [0, Number.MAX_SAFE_INTEGER],
    [I64]: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [POINTER]: [0, 0xffffffff],
};

/** The module's memory, and the structs in it. */
export class Memory {
    #view;

    constructor(exports) {
        this.exports = exports;
        this.layouts = new Map();
        const found = new Map();
        for (let at = exports.hc_web_layouts(); this.u32(at) !== 0; at += 4) this.#layout(this.u32(at), found);
        this.struct = this.allocate(SCRATCH);
        this.datagram = this.allocate(SCRATCH);
    }

    /** A view that stays right when the memory grows. */
    get view() {
        if (this.#view?.buffer !== this.exports.memory.buffer) this.#view = new DataView(this.exports.memory.buffer);
        return this.#view;
    }

    u32(at) {
        return this.view.getUint32(at, true);
    }
    bytes(at, size) {
        return new Uint8Array(this.exports.memory.buffer, at, size);
    }
    copy(at, size) {
        return this.bytes(at, size).slice();
    }

    /** The text at `at` up to a zero, and at most `size` bytes; null: there is none. */
    text(at, size = Infinity) {
        if (at === 0) return null;
        const all = new Uint8Array(this.exports.memory.buffer, at);
        let end = 0;
        while (end < size && all[end] !== 0) end++;
        return utf8.decode(all.slice(0, end));
    }

    allocate(size) {
        const at = this.exports.malloc(size);
        if (at === 0) throw new HindcastError(`no memory for ${size} bytes`);
        return at;
    }

    /** Calls `use` with the address of a copy of `bytes`. */
    with(bytes, use) {
        const at = this.allocate(Math.max(1, bytes.length));
        try {
            this.bytes(at, bytes.length).set(bytes);
            return use(at, bytes.length);
        } finally {
            this.exports.free(at);
        }
    }

    #layout(at, found) {
        if (found.has(at)) return found.get(at);
        const layout = { name: this.text(this.u32(at)), size: this.u32(at + 4), members: [], byKey: new Map() };
        found.set(at, layout);
        for (let i = 0, m = this.u32(at + 12); i < this.u32(at + 8); i++, m += 16) {
            const type = this.view.getUint16(m + 8, true),
                of = this.u32(m + 12);
            const member = {
                key: camel(this.text(this.u32(m))),
                offset: this.u32(m + 4),
                type,
                count: this.view.getUint16(m + 10, true),
            };
            if (type === STRUCT) member.layout = this.#layout(of, found);
            if (type === WORD) member.words = this.#words(of);
            layout.members.push(member);
            layout.byKey.set(member.key, member);
        }
        this.layouts.set(layout.name, layout);
        return layout;
    }

    #words(at) {
        const words = [];
        for (; this.u32(at) !== 0; at += 4) words.push(this.text(this.u32(at)));
        return words;
    }

    layout(name) {
        return this.layouts.get(name);
    }
    offset(name, key) {
        return this.layout(name).byKey.get(key).offset;
    }
    word(key, value) {
        return this.layout('web_words').byKey.get(key).words[value] ?? null;
    }
    size(name) {
        return this.layout(name).size;
    }

    /** The struct `name` at `at`, as an object. */
    read(name, at) {
        return this.#read(this.layout(name), at);
    }

    #read(layout, at) {
        const object = {};
        for (const member of layout.members) {
            const isArray = member.count > 0 && member.type !== TEXT && member.type !== BYTES;
            if (!isArray) {
                object[member.key] = this.#get(member, at + member.offset);
                continue;
            }
            const step = member.layout?.size ?? SIZES[member.type];
            object[member.key] = Array.from({ length: member.count }, (_, i) =>
                this.#get(member, at + member.offset + i * step),
            );
        }
        return object;
    }

    #get(member, at) {
        const view = this.view;
        switch (member.type) {
            case BOOL:
                return view.getUint8(at) !== 0;
            case U8:
                return view.getUint8(at);
            case U16:
                return view.getUint16(at, true);
            case U32:
            case POINTER:
                return view.getUint32(at, true);
            case I32:
                return view.getInt32(at, true);
            case U64:
                return view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
            case I64:
                return view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
            case ID:
                return view.getBigUint64(at, true);
            case F64:
                return view.getFloat64(at, true);
            case STRING:
                return this.text(view.getUint32(at, true));
            case TEXT:
                return this.text(at, member.count);
            case BYTES:
                return this.copy(at, member.count);
            case WORD:
                return member.words[view.getUint32(at, true)] ?? null;
            case STRUCT:
                return this.#read(member.layout, at);
            default:
                return this.#histogram(at);
        }
    }

    #histogram(at) {
        const { hc_histogram_percentile: percentile, hc_histogram_mean: mean } = this.exports;
        const value = (permille) => Number(percentile(at, permille));
        return {
            count: Number(this.view.getBigUint64(at, true)),
            mean: Number(mean(at)),
            p50: value(500),
            p90: value(900),
            p99: value(990),
            max: value(1000),
        };
    }

    /** Writes members to the struct `name` at `at`; those that `values` lacks stay. */
    write(name, at, values, where = camel(name)) {
        this.#write(this.layout(name), at, values, where);
    }

    #write(layout, at, values, where) {
        for (const [key, value] of Object.entries(values)) {
            if (value === undefined) continue;
            const member = layout.byKey.get(key);
            if (member === undefined)
                throw new HindcastError(
                    `${where} has no member '${key}'; it has ${[...layout.byKey.keys()].join(', ')}`,
                );
            this.#put(member, at + member.offset, value, `${where}.${key}`);
        }
    }

    #put(member, at, value, where) {
        const view = this.view;
        const bad = (wanted) => new HindcastError(`${where} is ${show(value)}, but must be ${wanted}`);
        switch (member.type) {
            case TEXT:
            case BYTES: {
                const bytes = member.type === TEXT ? toUtf8.encode(value) : value;
                if (!(bytes?.length <= member.count)) throw bad(`${member.count} bytes at most`);
                this.bytes(at, member.count).fill(0).set(bytes);
                return;
            }
            case STRUCT: {
                const parts = member.count > 0 ? value : [value];
                if (parts.length > Math.max(1, member.count)) throw bad(`${member.count} at most`);
                parts.forEach((part, i) => this.#write(member.layout, at + i * member.layout.size, part, where));
                return;
            }
            case WORD:
                if (!member.words.includes(value)) throw bad(`one of ${member.words.join(', ')}`);
                view.setUint32(at, member.words.indexOf(value), true);
                return;
        }
        if (member.count > 0) {
            if (!(value.length <= member.count)) throw bad(`an array of ${member.count} at most`);
            value.forEach((one, i) => this.#put({ ...member, count: 0 }, at + i * SIZES[member.type], one, where));
            return;
        }
        switch (member.type) {
            case BOOL:
                view.setUint8(at, value ? 1 : 0);
                return;
            case F64:
                if (!Number.isFinite(value)) throw bad('a number');
                view.setFloat64(at, value, true);
                return;
            case ID:
                if (typeof value === 'number' && Number.isSafeInteger(value)) value = BigInt(value);
                if (typeof value !== 'bigint' || BigInt.asUintN(64, value) !== value)
                    throw bad('an integer in [0, 2^64)');
                view.setBigUint64(at, value, true);
                return;
        }
        const range = RANGES[member.type];
        if (!range) throw new HindcastError(`${where} cannot be set`);
        if (!Number.isSafeInteger(value) || value < range[0] || value > range[1])
            throw bad(`an integer in [${range[0]}, ${range[1]}]`);
        switch (member.type) {
            case U8:
                view.setUint8(at, value);
                break;
            case U16:
                view.setUint16(at, value, true);
                break;
            case U64:
            case I64:
                view.setBigInt64(at, BigInt(value), true);
                break;
            default:
                view.setUint32(at, value >>> 0, true);
        }
    }
}

export const show = (value) =>
    typeof value === 'string' ? `'${value}'` : Array.isArray(value) ? 'an array' : String(value);

/** The values of fields of a game in the struct at `at`. */
export function readFields(view, fields, at) {
    const values = {};
    for (const { name, offset, size, isSigned } of fields)
        values[camel(name)] = number(view, at + offset, size, isSigned);
    return values;
}

function number(view, at, size, isSigned) {
    if (size === 1) return isSigned ? view.getInt8(at) : view.getUint8(at);
    if (size === 2) return isSigned ? view.getInt16(at, true) : view.getUint16(at, true);
    return isSigned ? view.getInt32(at, true) : view.getUint32(at, true);
}
