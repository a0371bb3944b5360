// node bundle.mjs OUT SCRIPT MATCH GAME...: writes the page OUT, one file that opens from disk, from storm.html,
// storm.css, the joined SCRIPT, the module MATCH, and games: GAME is NAME=MODULE, or NAME=MODULE=LEVEL, or
// `arena`, which is in MATCH. The page begins with the first.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';

const [out, script, match, ...games] = process.argv.slice(2);
const here = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const packed = (path) => gzipSync(readFileSync(path), { level: 9 }).toString('base64');
const part = (name, content) => `<script type="application/octet-stream" ${name}>${content}</script>`;

let page = here('storm.html');
/** Replaces a mark that stands there once. */
function put(mark, text) {
    if (page.split(mark).length !== 2) throw new Error(`${mark} is not there once`);
    page = page.replace(mark, () => text);
}
const parts = [];
for (const game of games) {
    const [name, module, level] = game.split('=');
    if (!/^[\w-]+$/.test(name)) throw new Error(`${name} is no name of a game`);
    parts.push(part(`data-game="${name}"`, module ? packed(module) : ''));
    if (level) parts.push(part(`data-level="${name}"`, packed(level)));
}
put('@STYLE@', here('storm.css').trim());
put('@MATCH@', packed(match));
put('@GAMES@', parts.join('\n'));
put('@SCRIPT@', readFileSync(script, 'utf8').trim());
if (page.match(/<\/script/g).length !== parts.length + 2) throw new Error('a part of the page ends its script');
writeFileSync(out, page);
console.log(`${basename(out)}: ${page.length} bytes, ${gzipSync(page, { level: 9 }).length} by gzip`);
