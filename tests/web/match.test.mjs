// Whole matches by the library for pages: server, clients and links in one module.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { loadAll, recorder } from './library.mjs';

const SECOND = 1e6;

/** Plays `seconds` with three bots, and returns the match with a hash of all its datagrams. */
function play(hindcast, game, { link, seed = 1, seconds = 8, server, client }) {
    const sent = createHash('sha256');
    const match = hindcast.createMatch({
        game,
        seed,
        server: { clients: Math.min(3, game.playersMax), ...server },
        onSend: (from, seat, bytes, now) => sent.update(`${from} ${seat} ${now}`).update(bytes),
    });
    for (let i = 0; i < Math.min(3, game.playersMax); i++) match.add({ link, client });
    match.advance(seconds * SECOND);
    return { match, hash: sent.copy().digest('hex') };
}

test('bots of every game play over good, bad and awful links, and every hash is right', async () => {
    const { hindcast, games } = await loadAll();
    for (const game of games)
        for (const link of ['good', 'bad', 'awful']) {
            const { match } = play(hindcast, game, { link });
            const chains = new Map();
            for (const { client } of match.seats) {
                const stats = client.stats();
                assert.equal(client.state, 'playing', `${game.name} ${link}`);
                assert.ok(stats.hashChecks > 100 && stats.hashMismatches === 0, `${game.name} ${link}`);
                const { tick, chain } = client.final();
                assert.ok((chains.get(tick) ?? chain) === chain, `${game.name} ${link}: two chains at one tick`);
                chains.set(tick, chain);
            }
            assert.equal(match.server.stats().desyncs, 0);
            match.destroy();
        }
});

test('a seed repeats a match byte for byte, and another seed does not', async () => {
    const first = await loadAll(),
        second = await loadAll();
    const a = play(first.hindcast, first.games[0], { link: 'awful', seed: 7, seconds: 4 });
    const b = play(second.hindcast, second.games[0], { link: 'awful', seed: 7, seconds: 4 });
    const c = play(first.hindcast, first.games[0], { link: 'awful', seed: 8, seconds: 4 });
    assert.equal(a.hash, b.hash);
    assert.notEqual(a.hash, c.hash);
    for (let tick = a.match.server.oldest(); tick <= a.match.server.head(); tick++)
        assert.equal(a.match.server.hash(tick), b.match.server.hash(tick));
});

test('advancing in many small steps plays the same match as one large step', async () => {
    const { hindcast, games } = await loadAll();
    const whole = play(hindcast, games[0], { link: 'bad', seconds: 3 });
    const sent = createHash('sha256');
    const match = hindcast.createMatch({
        game: games[0],
        seed: 1,
        server: { clients: 3 },
        onSend: (from, seat, bytes, now) => sent.update(`${from} ${seat} ${now}`).update(bytes),
    });
    for (let i = 0; i < 3; i++) match.add({ link: 'bad' });
    for (let now = 0; now <= 3 * SECOND; now += 777) match.advance(Math.min(now, 3 * SECOND));
    match.advance(3 * SECOND);
    assert.equal(sent.digest('hex'), whole.hash);
});

test('the server reports its rewinds: the late inputs, and less work than all entities', async () => {
    const { hindcast, games } = await loadAll();
    const match = hindcast.createMatch({ game: games[0], server: { clients: 4 } });
    for (let i = 0; i < 4; i++)
        match.add({
            link: { latencyUs: 120000, jitterUs: 20000 },
            client: { inputDelay: 0, inputDelayMax: 0, lead: 0, leadMax: 0 },
        });
    match.server.logRewinds();
    let rewinds = 0,
        late = 0;
    for (let now = 0; now <= 5 * SECOND; now += SECOND / 60) {
        match.advance(now);
        for (const rewind of match.server.rewinds()) {
            rewinds++;
            late += rewind.causes.filter(({ kind }) => kind === 'input').length;
            assert.ok(
                rewind.from <= rewind.head &&
                    rewind.ticks >= 1 &&
                    rewind.steps <= rewind.ticks * match.server.world.entities,
            );
            for (const cause of rewind.causes) assert.ok(cause.tick < rewind.head && cause.player < 4);
        }
    }
    assert.ok(rewinds > 50 && late >= rewinds, `${rewinds} rewinds, ${late} late inputs`);
    assert.equal(match.server.timelineStats().rewinds, rewinds);
});

test('without history the server rewinds nothing, and forces late inputs', async () => {
    const { hindcast, games } = await loadAll();
    const { match } = play(hindcast, games[0], {
        link: { latencyUs: 100000 },
        server: { history: 0, lateMargin: 0 },
        client: { inputDelay: 0, inputDelayMax: 0, lead: 0, leadMax: 0 },
    });
    assert.equal(match.server.timelineStats().rewinds, 0);
    assert.ok(match.seats[0].client.stats().inputsForced > 100);
    assert.equal(match.seats[0].client.stats().hashMismatches, 0);
});

test('a link that becomes bad while playing shows in the figures of its client alone', async () => {
    const { hindcast, games } = await loadAll();
    const { match } = play(hindcast, games[0], { link: 'good', seconds: 3 });
    const before = match.seats[0].client.recent();
    match.seats[0].setLink({ latencyUs: 150000, jitterUs: 10000, lossPpm: 100000 }, match.nowUs);
    match.advance(9 * SECOND);
    const [far, near] = match.seats.map(({ client }) => client.recent());
    assert.ok(
        before.rttUs < 60000 && far.rttUs > 280000 && near.rttUs < 60000,
        `${before.rttUs} ${far.rttUs} ${near.rttUs}`,
    );
    assert.ok(far.lossDownPpm > 0 && near.lossDownPpm === 0);
    assert.equal(match.seats[0].client.stats().hashMismatches, 0);
});

test('a person moves its player by controls, in every game', async () => {
    const { hindcast, games } = await loadAll();
    for (const game of games) {
        const match = hindcast.createMatch({ game, server: { clients: 2 } });
        const { client } = match.add({ bot: false });
        match.add();
        match.advance(2 * SECOND);
        const entity = 1 + client.player() * client.world.perOwner;
        const place = () => client.show(match.nowUs, entity).values;
        for (const y of [1, -1]) {
            const from = place().y;
            client.control(0, { y, aimX: 1, aimY: 0 });
            match.advance(match.nowUs + SECOND / 2);
            assert.ok(
                (place().y - from) * y > 0 || place().deaths > 0,
                `${game.name}: ${from} to ${place().y} by ${y}`,
            );
        }
        match.destroy();
    }
});

test('a drawing draws the world, the ghosts of the newest received state, and names', async () => {
    const { hindcast, games } = await loadAll();
    for (const game of games) {
        const match = hindcast.createMatch({ game, server: { clients: 2 } });
        const seat = match.add({ link: { latencyUs: 150000 }, name: 'Ada' });
        match.add({ link: { latencyUs: 150000 }, name: 'Bo' });
        assert.equal(seat.client.draw(recorder(10, 10).context, {}, 0), null);
        let ghosts = 0;
        for (let i = 0; i < 20; i++) {
            match.advance((4 + i / 4) * SECOND);
            const { context, count, calls } = recorder(800, 600);
            const drawn = seat.client.draw(context, { x: 100, y: 50, width: 400, height: 300 }, match.nowUs);
            const plain = count('strokeRect') + count('stroke');
            assert.equal(plain, 0, 'outlines without ghosts');
            assert.ok(count('fillRect') > 1 && Math.abs(drawn.area.width / drawn.area.height - 4 / 3) < 1e-9);
            assert.deepEqual([count('save'), count('restore'), count('clip')], [1, 1, 1]);
            if (drawn.self)
                assert.ok(drawn.self.x >= 100 && drawn.self.x <= 500 && drawn.self.y >= 50 && drawn.self.y <= 350);
            if (game.name === 'arena' && i === 0)
                assert.ok(calls.some(([name, text]) => name === 'fillText' && text === 'Ada'));
            const outlined = recorder(800, 600);
            seat.client.draw(outlined.context, { ghosts: true }, match.nowUs);
            ghosts += outlined.count('strokeRect') + outlined.count('stroke');
        }
        assert.ok(ghosts > 0, `${game.name}: no ghost in 20 frames`);
        match.destroy();
    }
});

test('game events are delivered once, whether they are drawn or not', async () => {
    const { hindcast, games } = await loadAll();
    const counts = [false, true].map((draws) => {
        const { match } = play(hindcast, games[0], { link: 'good', seconds: 1 });
        const { client } = match.seats[0];
        let events = [];
        for (let now = SECOND; now < 12 * SECOND; now += SECOND / 60) {
            match.advance(now);
            if (draws) client.draw(recorder(100, 100).context, {}, now);
            events = events.concat(client.gameEvents(now));
        }
        return events.map(({ state, tick, entity, kind, number }) => `${state} ${tick} ${entity} ${kind} ${number}`);
    });
    assert.ok(counts[0].length > 10);
    assert.deepEqual(counts[0], counts[1]);
});

test('the server lists the entities that are alive, which a client that sees all is shown too', async () => {
    const { hindcast, games } = await loadAll();
    for (const game of games.slice(1)) {
        const match = hindcast.createMatch({ game, server: { clients: 2 } });
        const seats = [match.add(), match.add()];
        match.advance(3 * SECOND);
        const listed = match.server.entities(match.server.head());
        const shown = seats[0].client.shown(match.nowUs);
        assert.deepEqual(listed.map(({ entity }) => entity), shown.map(({ entity }) => entity), game.name);
        const own = listed.filter(({ owner }) => owner !== null);
        assert.equal(own.length, 2);
        assert.ok(own.every(({ values }) => values.x > 0), game.name);
        match.destroy();
    }
});

test('messages go both ways, and a kicked client learns why', async () => {
    const { hindcast, games } = await loadAll();
    const match = hindcast.createMatch({ game: games[0], server: { clients: 2 } });
    const { client } = match.add({ name: 'Ada' });
    match.advance(SECOND);
    const [joined] = match.server.events();
    assert.deepEqual(
        [joined.kind, joined.name, joined.clientId, joined.players, joined.address],
        ['joined', 'Ada', 1n, [client.player()], '127.0.0.1:1024'],
    );
    assert.equal(client.sendMessage(Uint8Array.of(1, 2, 3)), 'ok');
    assert.equal(match.server.sendMessage(joined.cid, Uint8Array.of(4), match.nowUs), 'ok');
    assert.equal(client.sendMessage(new Uint8Array(256)), 'out of range');
    match.advance(2 * SECOND);
    assert.deepEqual([...match.server.nextMessage().bytes], [1, 2, 3]);
    assert.equal(match.server.nextMessage(), null);
    assert.deepEqual([...client.nextMessage()], [4]);
    const said = { kind: 'ending', seconds: 60, where: 'example.net:40000', text: 'Wartung, gleich zurück' };
    assert.equal(match.server.notify(0, said, match.nowUs), 'ok');
    assert.equal(match.server.notify(0, { kind: 'operator', text: '' }, match.nowUs), 'out of range');
    assert.equal(match.server.notify(99, said, match.nowUs), 'unexpected');
    assert.throws(() => match.server.notify(0, { kind: 'whim' }, match.nowUs), /notice.kind is 'whim'/);
    match.advance(2.5 * SECOND);
    const { line, ...notice } = [...client.events()].find(({ kind }) => kind === 'notice').notice;
    assert.deepEqual(notice, said);
    assert.match(line, /60 s.*example.net:40000.*zurück/);
    assert.equal(match.server.kick(joined.cid, 3, match.nowUs), 'ok');
    match.advance(3 * SECOND);
    const last = [...client.events()].at(-1);
    assert.equal(client.state, 'closed');
    assert.equal(client.deadline(), Infinity);
    assert.deepEqual([last.kind, hindcast.closeText(last.close).length > 0], ['closed', true]);
});

test('a client that vanishes lingers, and its callbacks tell its rollbacks and its log', async () => {
    const lines = [];
    const { hindcast, games } = await loadAll({ log: (line) => lines.push(line) });
    const match = hindcast.createMatch({ game: games[0], server: { clients: 2, timeoutUs: 3e6, lingerUs: 2e6 } });
    const begun = [],
        ended = [];
    const seat = match.add({
        link: 'bad',
        client: { onRollback: (tick) => begun.push(tick), onRollbackEnd: (tick) => ended.push(tick) },
    });
    const gone = match.add({ link: 'good' });
    match.advance(3 * SECOND);
    assert.ok(begun.length > 20);
    assert.deepEqual(begun, ended);
    assert.equal(begun.length, seat.client.stats().rollbacks);
    assert.equal(match.server.clients(match.nowUs).length, 2);
    match.remove(gone);
    assert.throws(() => match.remove(gone), /not in the match/);
    match.advance(9 * SECOND);
    assert.equal(match.server.clients(match.nowUs).length, 1);
    assert.deepEqual([...match.server.events()].map(({ kind }) => kind).slice(2), ['timeout']);
});
