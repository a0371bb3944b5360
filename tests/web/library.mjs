// What the tests of the library for pages share: the loaded modules.
import { readFile } from 'node:fs/promises';
import { load } from '../../build/wasm/web/hindcast.js';

const root = new URL('../../', import.meta.url);

/** A file of the built library, or of the sources. */
export const built = (name) => readFile(new URL(`build/wasm/web/${name}`, root));
export const source = (name) => readFile(new URL(name, root));

/** The module with the server, and the games of examples/. */
export async function loadAll(options) {
    const hindcast = await load(await built('hindcast-match.wasm'), options);
    const pong = await hindcast.loadGame(await built('pong.wasm'));
    const duel = await hindcast.loadGame(await built('duel.wasm'), { level: await source('examples/duel/duel.txt') });
    return { hindcast, games: [hindcast.arena, pong, duel] };
}

/** A context of a canvas that records its calls. */
export function recorder(width, height) {
    const calls = [];
    const context = new Proxy(
        { canvas: { width, height } },
        {
            get: (target, name) => (name in target ? target[name] : (...words) => void calls.push([name, ...words])),
            set: (target, name, value) => ((target[name] = value), true),
        },
    );
    return { context, calls, count: (name) => calls.filter(([called]) => called === name).length };
}
