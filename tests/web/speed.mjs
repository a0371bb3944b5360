// Times the simulation natively, in Node and in Chromium, and whole matches in a page:
//
//     sh tests/web/run.sh && sh tests/browser/run.sh && node tests/web/speed.mjs
//
// hc_timelines plays timelines of 3,000 ticks with 4 players; the time of one alone is taken from that of many. Each
// figure is the least of several turns, in which the three take turns. A machine that others use is told.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { run } from './wasi.mjs';
import { loadAll } from './library.mjs';
import { built, withBrowser, withPage } from '../browser/browser.mjs';

const TURNS = 5,
    MANY = 41, // timelines in a turn
    TICKS = 3000,
    MATCH_S = 20,
    CLIENTS = 4,
    BUSY_LOAD = 1.5;
const root = new URL('../../', import.meta.url);
const program = readFileSync(new URL('build/wasm/bin/hc_timelines', root));
const module = new WebAssembly.Module(program);
const quiet = { write() {}, random: (bytes) => crypto.getRandomValues(bytes) };

function native(words) {
    const begun = performance.now();
    execFileSync(new URL('build/release/bin/hc_timelines', root).pathname, words);
    return performance.now() - begun;
}

function node(words) {
    const begun = performance.now();
    run(module, ['hc_timelines', ...words], quiet);
    return performance.now() - begun;
}

/** Milliseconds of the program in a page, which has the module and `run` already. */
const inPage = (page) => (words) =>
    page.evaluate((words) => {
        const begun = performance.now();
        window.run(window.program, ['hc_timelines', ...words], { write() {}, random() {} });
        return performance.now() - begun;
    }, words);

async function prepare(page) {
    const text = readFileSync(new URL('wasi.mjs', import.meta.url)).toString('base64');
    await page.evaluate(
        async ([text, program]) => {
            window.run = (await import(`data:text/javascript;base64,${text}`)).run;
            window.program = await WebAssembly.compile(Uint8Array.from(atob(program), (letter) => letter.charCodeAt(0)));
        },
        [text, program.toString('base64')],
    );
}

/** Microseconds of a tick with inputs so late, by each place. */
async function ticks(places, late) {
    const best = new Map();
    for (let turn = 0; turn < TURNS; turn++)
        for (const [name, time] of places) {
            const one = await time(['arena', `${late}`, '1']),
                many = await time(['arena', `${late}`, `${MANY}`]);
            const us = ((many - one) * 1000) / (MANY - 1) / TICKS;
            best.set(name, Math.min(best.get(name) ?? Infinity, us));
        }
    return best;
}

/** Ticks a second of a match of the library. */
function playMatch(hindcast, seconds, clients) {
    const match = hindcast.createMatch({ server: { clients } });
    for (let i = 0; i < clients; i++) match.add({ link: 'bad' });
    match.advance(2e6);
    const begun = performance.now();
    match.advance((2 + seconds) * 1e6);
    const took = (performance.now() - begun) / 1000;
    const rate = (seconds * 60) / took;
    match.destroy();
    return rate;
}

const number = (value) => value.toFixed(value < 100 ? 2 : 0).padStart(10);

await withBrowser((browser) =>
    withPage(browser, 'about:blank', {}, async (page) => {
        await prepare(page);
        const places = new Map([
            ['native', native],
            ['Node', node],
            ['Chromium', inPage(page)],
        ]);
        console.log(`arena, 4 players                 ${[...places.keys()].map((name) => name.padStart(10)).join('')}`);
        for (const late of [0, 6, 12]) {
            const best = await ticks(places, late);
            const what = late === 0 ? 'us a tick, inputs in time' : `us a tick, rewound ${late} ticks`;
            console.log(`${what.padEnd(33)}${[...best.values()].map(number).join('')}`);
        }
        const { hindcast } = await loadAll();
        let [inNode, inBrowser] = [0, 0];
        await withPage(browser, built('storm.html'), {}, async (storm) => {
            await storm.waitForFunction(() => window.storm !== undefined);
            await storm.click('#play');
            for (let turn = 0; turn < TURNS; turn++) {
                inNode = Math.max(inNode, playMatch(hindcast, MATCH_S, CLIENTS));
                const rate = await storm.evaluate(`(${playMatch})(storm.hindcast, ${MATCH_S}, ${CLIENTS})`);
                inBrowser = Math.max(inBrowser, rate);
            }
        });
        const what = `ticks/s, server and ${CLIENTS} clients, bad`;
        console.log(`${what.padEnd(33)}${'-'.padStart(10)}${number(inNode)}${number(inBrowser)}`);
    }),
);
const [load] = loadavg();
if (load > BUSY_LOAD) console.log(`The machine was busy (load ${load.toFixed(1)}): these figures are not to be written down.`);
