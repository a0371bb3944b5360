// Errors of callers, hostile datagrams, broken files, and the types of the library for pages.
import assert from 'node:assert/strict';
import test from 'node:test';
import { HindcastError, load } from '../../build/wasm/web/hindcast.js';
import * as library from '../../build/wasm/web/hindcast.js';
import { built, loadAll, source } from './library.mjs';

const SECOND = 1e6;
const refuses = (call, message) =>
    assert.throws(call, (error) => error instanceof HindcastError && message.test(error.message));
const refusesLater = (promise, message) =>
    assert.rejects(promise, (error) => error instanceof HindcastError && message.test(error.message));

/** Random numbers that repeat: each test prints what it drew by its seed. */
function generator(seed) {
    return (below) => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return Math.floor((seed / 2 ** 32) * below);
    };
}

test('an error of a configuration names the member, its value and what is allowed', async () => {
    const { hindcast, games } = await loadAll();
    const server = hindcast.createServer({ game: games[0] }, 1e6, 0);
    const credential = server.issue({ clientId: 1 }, 60, 0);
    const client = (config) => () => hindcast.createClient({ game: games[0], credential, ...config }, 0);
    refuses(client({ inputDely: 3 }), /clientConfig has no member 'inputDely'; it has .*inputDelay/);
    refuses(client({ inputDelay: -1 }), /clientConfig.inputDelay is -1, but must be an integer in \[0, 4294967295\]/);
    refuses(client({ inputDelay: 1.5 }), /clientConfig.inputDelay is 1.5/);
    refuses(client({ inputDelay: 61 }), /clientConfig.inputDelay is out of its range/);
    refuses(
        client({ others: 'late' }),
        /clientConfig.others is 'late', but must be one of by-game, predicted, as-received/,
    );
    refuses(client({ entropy: new Uint8Array(31) }), /clientConfig.entropy has 31 bytes, but must have 32/);
    refuses(client({ credential: 'abc' }), /the credential is truncated/);
    refuses(client({ credential: '!'.repeat(368) }), /the credential is malformed/);
    refuses(client({ credential: undefined }), /clientConfig.credential is missing/);
    refuses(client({ game: 'arena' }), /clientConfig.game is missing/);
    refuses(
        () => hindcast.createServer({ game: games[0], clients: 0 }, 1e6, 0),
        /serverConfig: .*clients is 0, but must be in \[1, /,
    );
    refuses(() => hindcast.createServer({ game: games[0], clients: 65536 }, 1e6, 0), /serverConfig.clients is 65536/);
    refuses(
        () => hindcast.createServer({ game: games[0], seed: 2n ** 64n }, 1e6, 0),
        /serverConfig.seed is 18446744073709551616/,
    );
    refuses(
        () => server.issue({ clientId: 1, name: 'a'.repeat(33) }, 60, 0),
        /serverUser.name is .*, but must be 32 bytes at most/,
    );
    refuses(
        () => server.receive('localhost', new Uint8Array(20), 0),
        /the address is 'localhost', but must be like 127.0.0.1:40000/,
    );
    refuses(() => hindcast.createNetworkSim({ lossPpm: 2e6 }), /link.lossPpm is out of its range/);
    refuses(() => hindcast.createNetworkSim('worst'), /there is no preset 'worst' of links: good, ok, bad or awful/);
    refuses(() => hindcast.timingPreset('late'), /there is no preset 'late' of timing/);
    for (const now of [-1, NaN, Infinity, 2 ** 53, undefined])
        refuses(() => server.advance(now), /a time is .*, but must be microseconds in \[0, 2\^53\)/);
    const good = client({})();
    refuses(
        () => good.setInput(0, { jump: 1 }),
        /the input of arena has no field 'jump'; it has move_x, move_y, aim, fire/,
    );
    refuses(() => good.setInput(0, { fire: 0.5 }), /the field 'fire' is 0.5/);
    refuses(() => good.setInput(0, new Uint8Array(1)), /an input of arena has \d+ bytes, not 1/);
    assert.equal(good.setTiming({ inputDelay: 60, lead: 60, inputDelayMax: 60, leadMax: 60 }), 'out of range');
});

test('the client alone has no server, and says which file has one', async () => {
    const hindcast = await load(await built('hindcast.wasm'));
    assert.equal(hindcast.hasServer, false);
    refuses(() => hindcast.createServer({ game: hindcast.arena }, 1e6, 0), /hindcast-match.wasm/);
    refuses(() => hindcast.createMatch(), /hindcast-match.wasm/);
});

test('a client of one module plays on a server of another, by text of its token', async () => {
    const client = await load(await built('hindcast.wasm')),
        { hindcast, games } = await loadAll();
    const server = hindcast.createServer({ game: games[0], clients: 2 }, 1e6, 0);
    const { token, secret } = server.issue({ clientId: 5 }, 60, 0);
    const text = Buffer.concat([token, secret]).toString('base64url');
    const player = client.createClient({ game: client.arena, credential: text }, 0);
    for (let now = 0; now < SECOND; now += 4000) {
        let bytes, sent;
        player.advance(now);
        while ((bytes = player.send(now)) !== null) assert.equal(server.receive('127.0.0.1:5', bytes, now), 'ok');
        if (now >= server.deadline()) server.advance(now);
        while ((sent = server.send(now)) !== null) assert.equal(player.receive(sent.bytes, now), 'ok');
    }
    const { hashChecks, hashMismatches } = player.stats();
    assert.ok(player.state === 'playing' && hashChecks > 10 && hashMismatches === 0);
});

test('hostile datagrams change nothing, and never throw', async () => {
    const { hindcast, games } = await loadAll();
    const random = generator(5),
        kept = [];
    const match = hindcast.createMatch({
        game: games[0],
        server: { clients: 2 },
        onSend: (from, seat, bytes) => kept.push({ from, bytes }),
    });
    const seat = match.add({ link: 'good' });
    match.add({ link: 'bad' });
    match.advance(3 * SECOND);
    for (let i = 0; i < 3000; i++) {
        const { from, bytes } = kept[random(kept.length)];
        const forged =
            random(3) === 0 ? Uint8Array.from({ length: random(1400) }, () => random(256)) : Uint8Array.from(bytes);
        if (forged.length > 0) forged[random(forged.length)] ^= 1 << random(8);
        const cut = random(2) === 0 ? forged : forged.slice(0, random(forged.length + 1));
        if (from === 'server') assert.notEqual(seat.client.receive(cut, match.nowUs), undefined);
        else match.server.receive(`10.0.0.1:${1 + random(60000)}`, cut, match.nowUs);
    }
    assert.equal(seat.client.receive(new Uint8Array(1e6), match.nowUs), 'malformed');
    match.advance(6 * SECOND);
    for (const { client } of match.seats)
        assert.deepEqual([client.state, client.stats().hashMismatches], ['playing', 0]);
});

test('a broken or foreign side module is refused with a reason', async () => {
    const { hindcast } = await loadAll();
    const pong = await built('pong.wasm');
    await refusesLater(hindcast.loadGame(await built('hindcast.wasm')), /no side module/);
    await assert.rejects(hindcast.loadGame(pong.subarray(0, 100)), WebAssembly.CompileError);
    await refusesLater(
        hindcast.loadGame(await built('duel.wasm')),
        /the game needs its level 'duel.txt': pass it as the option `level`/,
    );
    const { pointer } = await hindcast.loadGame(pong);
    assert.ok(pointer > 0);
    // The version of the game interface is the first number of the data.
    let refused = 0;
    for (let at = 0; at < pong.length; at++) {
        if (pong[at] !== 5 || refused > 0) continue;
        const other = Uint8Array.from(pong);
        other[at] = 4;
        try {
            if (WebAssembly.validate(other)) await hindcast.loadGame(other);
        } catch (error) {
            refused += /compiled for version 4 of the game interface, and this program has version 5/.test(
                error.message,
            );
        }
    }
    assert.equal(refused, 1);
});

test('a failed assertion becomes an exception with its place and condition', async () => {
    const { hindcast, games } = await loadAll();
    const match = hindcast.createMatch({ game: games[0] });
    const { client } = match.add();
    refuses(() => client.setInput(3, {}), /client\/.*\.c:\d+: this must hold: /);
});

test('the stack lies before the data, so that its overflow traps', async () => {
    const { hindcast } = await loadAll();
    assert.ok(hindcast.exports.__stack_pointer.value <= 256 * 1024);
});

test('clients that come and go leave no memory behind', async () => {
    const { hindcast, games } = await loadAll();
    const size = () => hindcast.exports.memory.buffer.byteLength;
    let after = 0;
    for (let i = 0; i < 40; i++) {
        const match = hindcast.createMatch({ game: games[0], seed: i + 1, server: { clients: 2 } });
        match.add();
        match.add();
        match.advance(SECOND / 2);
        match.destroy();
        if (i === 2) after = size();
    }
    assert.equal(size(), after);
});

test('memory that runs out is an error, and not the end', async () => {
    const { hindcast, games } = await loadAll();
    const match = hindcast.createMatch({ game: games[0], server: { clients: 2 } }),
        held = [];
    const seat = match.add();
    for (let size = 2 ** 30; size >= 4096; size /= 2)
        for (let block; (block = hindcast.exports.malloc(size)) !== 0;) held.push(block); // none of it is touched
    refuses(() => hindcast.createServer({ game: games[0], clients: 256 }, 1e6, 0), /memory is short/);
    refuses(() => hindcast.createNetworkSim('bad'), /no memory/);
    for (const block of held) hindcast.exports.free(block);
    hindcast.createServer({ game: games[0] }, 1e6, 0).destroy();
    match.advance(2 * SECOND);
    assert.deepEqual([seat.client.state, seat.client.stats().hashMismatches], ['playing', 0]);
});

test('the types name each class, method and member that there is, and no other', async () => {
    const text = (await source('web/hindcast.d.ts')).toString();
    const { hindcast } = await loadAll();
    /** The names that the interface or class `name` declares. */
    const declared = (name) => {
        const body = new RegExp(`export (?:interface|class) ${name} [^{]*{\\n([\\s\\S]*?)\\n}`).exec(text)[1];
        return [...body.matchAll(/^    (?:readonly )?(\w+)[?(:]/gm)]
            .map(([, found]) => found)
            .filter((found) => !['private', 'constructor'].includes(found))
            .sort();
    };
    for (const name of ['Hindcast', 'Client', 'Bot', 'Server', 'NetworkSim', 'Match']) {
        const methods = Object.getOwnPropertyNames(library[name].prototype).filter(
            (found) => found !== 'constructor' && !found.startsWith('_'),
        );
        const missing = methods.filter((found) => !declared(name).includes(found));
        assert.deepEqual(missing, [], `${name} in hindcast.d.ts lacks them`);
        const gone = [...text.matchAll(new RegExp(`class ${name} {([\\s\\S]*?)\\n}`, 'g'))][0][1].matchAll(
            /^    (\w+)\(/gm,
        );
        for (const [, found] of gone)
            assert.ok(found === 'constructor' || methods.includes(found), `${name}.${found} is not there`);
    }
    const structs = {
        ClientConfig: ['client_config', ['log', 'onRollback', 'onRollbackEnd']],
        ClientEvent: ['client_event', []],
        Recent: ['client_recent', []],
        ServerConfig: ['server_config', []],
        ServerEvent: ['server_event', []],
        LinkConditions: ['network_sim_config', []],
        ServerClient: ['server_client', []],
        User: ['server_user', []],
        RewindCause: ['rewind_cause', []],
        Timing: ['client_timing', []],
        World: ['world', ['kindOf', 'ownerOf', 'stride']],
    };
    for (const [name, [struct, more]] of Object.entries(structs)) {
        const keys = [...hindcast.memory.layout(struct).byKey.keys()].concat(more).sort();
        const known = name === 'World' ? keys.filter((key) => !more.includes(key)) : keys;
        assert.deepEqual(declared(name), known, name);
    }
    const stats = [...hindcast.memory.layout('client_stats').byKey.keys()];
    for (const key of declared('ClientStats')) assert.ok(stats.includes(key), `no counter ${key}`);
});
