// Owns games, and the loading of those that are side modules.

import { HindcastError, camel, readFields, show, toUtf8 } from './memory.js';

export async function compile(source) {
    if (source instanceof WebAssembly.Module) return source;
    if (typeof source === 'string' || source instanceof URL) source = await fetch(source);
    if (typeof Response !== 'undefined' && source instanceof Response) {
        if (!source.ok) throw new HindcastError(`${source.url}: ${source.status} ${source.statusText}`);
        source = await source.arrayBuffer();
    }
    return WebAssembly.compile(source);
}

/** A game: the arena, or a loaded one. */
export class Game {
    #hindcast;
    #ruleHash = null;

    constructor(hindcast, found, drawing, level) {
        const { memory, exports } = hindcast;
        this.#hindcast = hindcast;
        this.pointer = memory.u32(found + 4 + 4 * 6);
        this.think = memory.u32(found + 8 + 4 * 6);
        this.drawing = drawing;
        if (level !== undefined) {
            const bytes = typeof level === 'string' ? toUtf8.encode(level) : level;
            const at = memory.allocate(bytes.length); // as long as the module
            memory.bytes(at, bytes.length).set(bytes);
            this.pointer = exports.hc_web_game_with_level(this.pointer, at, bytes.length);
        } else if (memory.u32(found + 12 + 4 * 6) !== 0) {
            const name = memory.text(memory.u32(found + 12 + 4 * 6));
            throw new HindcastError(`the game needs its level '${name}': pass it as the option \`level\``);
        }
        const table = memory.read('game', this.pointer);
        this.name = table.name;
        this.version = table.version;
        this.playersMax = table.playersMax;
        this.inputSize = table.inputSize;
        this.inputFields = this.#fields(table.inputFields, table.inputFieldCount);
        this.kinds = this.#table('kind', table.kinds, table.kindCount).map(
            ({ name, stateSize, fields, fieldCount }) => ({
                name,
                stateSize,
                fields: this.#fields(fields, fieldCount),
            }),
        );
        this.eventKinds = this.#table('game_event_kind', table.eventKinds, table.eventKindCount).map(
            ({ name }) => name,
        );
    }

    #table(name, at, count) {
        const { memory } = this.#hindcast,
            size = memory.size(name);
        return Array.from({ length: count }, (_, i) => ({
            ...memory.read(name, at + i * size),
            pointer: at + i * size,
        }));
    }

    #fields(at, count) {
        return this.#table('field', at, count);
    }

    /** The hash of its rule: a client and a server play together if theirs are equal. */
    get ruleHash() {
        this.#ruleHash ??= BigInt.asUintN(64, this.#hindcast.exports.hc_game_rule_hash(this.pointer, 0));
        return this.#ruleHash;
    }

    /** Writes an input, whose fields are 0 if they are not named, to `at`. */
    _putInput(at, input) {
        const { memory, exports } = this.#hindcast;
        memory.bytes(at, this.inputSize).fill(0);
        if (input instanceof Uint8Array) {
            if (input.length !== this.inputSize)
                throw new HindcastError(`an input of ${this.name} has ${this.inputSize} bytes, not ${input.length}`);
            memory.bytes(at, this.inputSize).set(input);
            return;
        }
        for (const [key, value] of Object.entries(input)) {
            const field = this.inputFields.find(({ name }) => name === key || camel(name) === key);
            if (field === undefined)
                throw new HindcastError(
                    `the input of ${this.name} has no field '${key}'; it has ${this.inputFields.map(({ name }) => name).join(', ')}`,
                );
            if (!Number.isSafeInteger(Number(value)))
                throw new HindcastError(`the field '${key}' is ${show(value)}, but must be an integer`);
            exports.hc_field_set(field.pointer, at, BigInt(value));
        }
    }

    /** The values of a kind's fields in a state at `at`. */
    _state(kind, at) {
        return readFields(this.#hindcast.memory.view, this.kinds[kind].fields, at);
    }
}

/** Reads the section `dylink.0` of a side module: the memory and the table that it needs. */
export function readNeeds(module) {
    const [section] = WebAssembly.Module.customSections(module, 'dylink.0');
    if (section === undefined)
        throw new HindcastError('this is no side module: compile it with -fPIC, and link it with wasm-ld -shared');
    const bytes = new Uint8Array(section);
    let at = 0;
    const number = () => {
        let value = 0,
            shift = 0,
            byte;
        do {
            byte = bytes[at++];
            value |= (byte & 0x7f) << shift;
            shift += 7;
        } while (byte & 0x80);
        return value >>> 0;
    };
    const needs = { size: 0, align: 0, slots: 0 };
    while (at < bytes.length) {
        const kind = number(),
            end = number() + at;
        if (kind === 1) {
            needs.size = number();
            needs.align = 1 << number();
            needs.slots = number();
        }
        at = end;
    }
    return needs;
}

/** Places a side module into the memory and the table of the module. It stays as long as that. */
export async function loadSide(hindcast, module) {
    const { exports, memory } = hindcast;
    const needs = readNeeds(module),
        align = Math.max(16, needs.align);
    const block = memory.allocate(needs.size + align),
        base = Math.ceil(block / align) * align;
    memory.bytes(base, needs.size).fill(0);
    const table = exports.__indirect_function_table;
    const slot = needs.slots > 0 ? table.grow(needs.slots) : table.length;
    const global = (value, mutable = false) => new WebAssembly.Global({ value: 'i32', mutable }, value);
    const own = {
        memory: exports.memory,
        __indirect_function_table: table,
        __stack_pointer: exports.__stack_pointer,
        __memory_base: global(base),
        __table_base: global(slot),
    };
    const imports = { env: {}, 'GOT.mem': {}, 'GOT.func': {} };
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
        const found = exports[name];
        if (
            !(from in imports) ||
            (from === 'env' && !(name in own) && typeof found !== 'function') ||
            (from !== 'env' && found === undefined)
        )
            throw new HindcastError(
                `the side module calls ${name}, which a game does not have; it has the functions of hindcast/plugin.h and drawing.h, and of the C library memcpy, memmove, memset, memcmp, strlen, strcmp, snprintf, sin, cos, atan2 and hypot`,
            );
        if (from === 'env') imports.env[name] = own[name] ?? found;
        else if (from === 'GOT.mem') imports[from][name] = global(found.value, true);
        else {
            const place = table.grow(1);
            table.set(place, found);
            imports[from][name] = global(place, true);
        }
        if (kind === 'memory' || kind === 'table') continue;
    }
    const side = (await WebAssembly.instantiate(module, imports)).exports;
    side.__wasm_apply_data_relocs?.();
    side.__wasm_call_ctors?.();
    return { address: (name) => (side[name] === undefined ? undefined : base + side[name].value) };
}
