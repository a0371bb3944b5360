// node bundle.mjs OUT SCRIPT LEVEL MODULE...: writes the page OUT, one file that opens from disk, from storm.html,
// storm.css, the joined SCRIPT, the level of duel and the modules.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';

const [out, script, level, ...modules] = process.argv.slice(2);
const here = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const packed = (path) => gzipSync(readFileSync(path), { level: 9 }).toString('base64');

let page = here('storm.html');
/** Replaces a mark that stands there once. */
function put(mark, text) {
    if (page.split(mark).length !== 2) throw new Error(`${mark} is not there once`);
    page = page.replace(mark, () => text);
}
put('@STYLE@', here('storm.css').trim());
put('@duel-level@', packed(level));
for (const module of modules) put(`@${basename(module, '.wasm')}@`, packed(module));
put('@SCRIPT@', readFileSync(script, 'utf8').trim());
if (page.match(/<\/script/g).length !== modules.length + 2) throw new Error('a part of the page ends its script');
writeFileSync(out, page);
console.log(`${basename(out)}: ${page.length} bytes, ${gzipSync(page, { level: 9 }).length} by gzip`);
