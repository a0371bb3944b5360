// The rules of all games in the library for pages, against those of the release build.
import assert from 'node:assert/strict';
import test from 'node:test';
import { built, loadAll, source } from './library.mjs';

test('the rule of each game has the hash that the release computes', async () => {
    const native = new Map(
        [...(await source('build/web/hc_timelines.here')).toString().matchAll(/^(\w+): rule (\w+)$/gm)].map(([, name, hash]) => [name, hash]),
    );
    const { hindcast, games } = await loadAll();
    // hc_timelines plays duel on a level of its own.
    const lines = (await source('tests/storm/examples.c')).toString().matchAll(/"([.#S]+)\\n"/g);
    const level = [...lines].map(([, line]) => `${line}\n`).join('');
    const duel = await hindcast.loadGame(await built('duel.wasm'), { level });
    const found = [games[0], games[1], duel].map(({ name, ruleHash }) => [name, ruleHash.toString(16).padStart(16, '0')]);
    assert.deepEqual(new Map(found), native);
    assert.notEqual(duel.ruleHash, games[2].ruleHash);
});
