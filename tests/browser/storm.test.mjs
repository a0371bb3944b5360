// The page with a server and its clients, in a real browser, as a person uses it.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { built, picture, withBrowser, withPage } from './browser.mjs';

const FAR = '150.50.10.0',
    NEAR = '30.5.0.0';
let browser, done;

before(async () => {
    const opened = new Promise((resolve) => {
        withBrowser((it) => new Promise((end) => ((done = end), resolve(it))));
    });
    browser = await opened;
});
after(() => done());

/** Opens the page with this text of the address, and waits until it plays. */
function open(words, options, use) {
    return withPage(browser, `${built('storm.html')}#${words}`, options, async (page) => {
        await page.waitForFunction(() => window.storm?.panes.every(({ seat }) => seat.client.state === 'playing'));
        await use(page);
    });
}

const reachTick = (page, tick) => page.waitForFunction((tick) => window.storm.match.server.head() >= tick, tick);
const inPage = (page, read, word) => page.evaluate(read, word);

test('a minute over 150 +- 50 ms and 10 % loss: every hash is right, and the server has rewound', () =>
    open(`clients=4&links=${Array(4).fill(FAR)}`, {}, async (page) => {
        await page.selectOption('#speed', '8');
        await reachTick(page, 3600);
        const seen = await inPage(page, () => {
            const stats = storm.panes.map(({ seat }) => seat.client.stats());
            return {
                checks: stats.map(({ hashChecks }) => hashChecks),
                wrong: stats.map(({ hashMismatches }) => hashMismatches),
                rewinds: storm.past.totals.rewinds,
                story: document.getElementById('story').textContent,
            };
        });
        assert.deepEqual(seen.wrong, [0, 0, 0, 0]);
        assert.ok(Math.min(...seen.checks) > 1000, `checks: ${seen.checks}`);
        assert.ok(seen.rewinds > 1000, `rewinds: ${seen.rewinds}`);
        assert.match(seen.story, /input for tick \d+ arrived \d+ ticks? late.*went back to tick \d+/);
    }));

test('the same address shows the same match, and another seed another one', async () => {
    const chainOf = async (words) => {
        let chain;
        await open(words, {}, async (page) => {
            await page.click('#play');
            chain = await inPage(page, () => {
                storm.restart();
                while (storm.match.server.head() < 600) document.getElementById('step').click();
                const { tick, chain } = storm.panes[0].seat.client.final();
                return `${tick} ${chain}`;
            });
        });
        return chain;
    };
    const first = await chainOf('seed=9&game=duel');
    assert.equal(await chainOf('seed=9&game=duel'), first);
    assert.notEqual(await chainOf('seed=10&game=duel'), first);
});

test('the sliders of a client change its link alone', () =>
    open(`clients=2&links=${NEAR},${NEAR}`, {}, async (page) => {
        const slide = (label, value) => page.getByLabel(label, { exact: true }).fill(value);
        const before = await inPage(page, () => storm.panes.map(({ seat }) => seat.client.recent().rttUs));
        assert.ok(before.every((rtt) => rtt < 120000), `${before}`);
        await slide('latency of You', '200');
        await page.waitForFunction(() => storm.panes[0].seat.client.recent().rttUs > 350000);
        assert.ok((await inPage(page, () => storm.panes[1].seat.client.recent().rttUs)) < 120000);
        await slide('jitter of You', '100');
        await page.waitForFunction(() => storm.panes[0].seat.client.recent().jitterUs > 15000);
        await slide('loss of You', '30');
        await page.waitForFunction(() => storm.panes[0].seat.client.stats().datagramsLost > 20);
        await slide('bandwidth of Bot 1', '16');
        await page.waitForFunction(() => storm.panes[1].seat.down.stats().droppedQueue > 0 || storm.match.server.stats().snapshotsHeldBack > 0);
        assert.match(page.url(), /links=200\.100\.30\.0,30\.5\.0\.16/);
    }));

test('timing, others and ghosts change while the match goes on', () =>
    open(`clients=2&timing=rewind&links=${NEAR},${FAR}`, {}, async (page) => {
        const delay = () => inPage(page, () => storm.panes[0].seat.client.recent().inputDelay);
        assert.equal(await delay(), 0);
        await page.selectOption('#timing', 'balanced');
        await page.waitForFunction(() => storm.panes[0].seat.client.recent().inputDelay > 0);
        await page.selectOption('#timing', 'ahead');
        await page.waitForFunction(() => storm.panes[1].seat.client.recent().lead > 3);
        const behind = (page) =>
            inPage(page, () => {
                const { seat } = storm.panes[0],
                    now = storm.match.nowUs;
                const other = seat.client.shown(now).find(({ owner }) => owner !== null && owner !== seat.client.player(0));
                return other && seat.client.showTick(now) - seat.client.showTick(now, other.entity);
            });
        await page.selectOption('#others', 'as-received');
        await page.waitForFunction(() => storm.panes[0].seat.client.recent().othersTicks > 1);
        assert.ok((await behind(page)) > 1);
        await page.selectOption('#others', 'predicted');
        await page.waitForFunction(() => storm.panes[0].seat.client.recent().othersTicks < 0.5);
        const outlines = async () => {
            await inPage(page, () => {
                window.outlines = 0;
                const { context } = storm.panes[1];
                context.stroke = function () {
                    window.outlines++;
                    CanvasRenderingContext2D.prototype.stroke.call(this);
                };
            });
            await page.waitForTimeout(300); // some frames
            return inPage(page, () => window.outlines);
        };
        assert.ok((await outlines()) > 0);
        await page.uncheck('#ghosts');
        assert.equal(await outlines(), 0);
        assert.ok((await inPage(page, () => storm.match.server.head())) > 60, 'the match went on');
    }));

test('without rewinds the server refuses the inputs of a far client, and with them none', () =>
    open(`clients=2&links=${NEAR},${FAR}`, {}, async (page) => {
        await reachTick(page, 300);
        const refused = () => inPage(page, () => storm.panes[1].seat.client.stats().inputsForced);
        assert.equal(await refused(), 0);
        await page.uncheck('#rewind');
        await page.waitForFunction(() => storm.panes[1].seat.client.stats().inputsForced > 100);
        assert.equal(await inPage(page, () => storm.past.totals.rewinds), 0);
        const red = await inPage(page, () => {
            const player = storm.panes[1].seat.client.player(0),
                head = storm.match.server.head();
            return [5, 10, 20].map((ago) => storm.past.arrival(player, head - ago));
        });
        assert.deepEqual(red, [4, 4, 4]);
        await reachTick(page, 400);
        const wrong = () => inPage(page, () => storm.panes.map((pane) => pane.wrongShare()));
        const without = await wrong();
        await page.check('#rewind');
        await reachTick(page, 400);
        const among = await wrong();
        assert.ok(without[1] > 0.4 && among[1] < 0.2, `own place wrong: ${without} without, ${among} with rewinds`);
    }));

test('game, clients, seed, pause, one tick, again and reset do what they say', () =>
    open('', {}, async (page) => {
        await page.selectOption('#game', 'pong');
        assert.equal(await inPage(page, () => storm.match.game.name), 'pong');
        assert.equal(await page.inputValue('#clients'), '2', 'pong is for two');
        await page.selectOption('#game', 'duel');
        await page.selectOption('#clients', '5');
        assert.equal(await page.locator('.pane').count(), 5);
        await page.fill('#seed', '77');
        await page.press('#seed', 'Enter');
        assert.equal(await inPage(page, () => Number(storm.match.server.world.seed)), 77);
        await page.click('#play');
        const head = () => inPage(page, () => storm.match.server.head());
        const paused = await head();
        await page.click('#step');
        assert.equal(await head(), paused + 1);
        await page.click('#restart');
        assert.ok((await head()) < 2);
        await page.click('#play');
        await reachTick(page, 30);
        await page.click('#defaults');
        assert.match(page.url(), /#game=arena&seed=7&clients=4/);
    }));

/** The own player's place in the first client's picture. */
const place = (page) =>
    inPage(page, () => {
        const { client } = storm.panes[0].seat;
        const own = client.shown(storm.match.nowUs).find(({ owner, kind }) => owner === client.player(0) && kind === 'player');
        return own === undefined ? null : [own.values.x, own.values.y];
    });

test('a person plays by keyboard and mouse, and a bot again when the keys rest', () =>
    open('clients=2', {}, async (page) => {
        for (const [key, sign] of [['ArrowRight', 1], ['KeyA', -1]]) {
            const [from] = await place(page);
            await page.keyboard.down(key);
            await page.waitForFunction(() => storm.panes[0].state.textContent === 'you play');
            await page.waitForFunction(
                ([from, sign]) => {
                    const { client } = storm.panes[0].seat;
                    const own = client.shown(storm.match.nowUs).find(({ owner, kind }) => owner === client.player(0) && kind === 'player');
                    // A wall, or a shot of the bot, may stand in the way: then the player has died or waits.
                    return own !== undefined && (own.values.x - from) * sign > 50 || own?.values.health === 0;
                },
                [from, sign],
            );
            await page.keyboard.up(key);
        }
        await page.locator('.pane canvas').first().hover();
        await page.mouse.down();
        await page.waitForFunction(() => {
            const { client } = storm.panes[0].seat;
            return client.shown(storm.match.nowUs).some(({ owner, kind }) => owner === client.player(0) && kind === 'shot');
        });
        await page.mouse.up();
        await page.getByText('let the bot play').click();
        await page.waitForFunction(() => storm.panes[0].state.textContent.startsWith('a bot plays'));
        await page.getByLabel('latency of You', { exact: true }).click();
        await page.keyboard.press('KeyD'); // the slider has given the keys back
        await page.waitForFunction(() => storm.panes[0].state.textContent === 'you play');
        await page.selectOption('#speed', '8');
        await page.waitForFunction(() => storm.panes[0].state.textContent.startsWith('a bot plays'));
    }));

test('a click on an arc tells of that rewind while the page is paused', () =>
    open(`clients=2&links=${NEAR},${FAR}`, {}, async (page) => {
        await page.waitForFunction(() => storm.past.rewinds.length > 5);
        await page.click('#play');
        const box = await page.locator('#lane').boundingBox();
        const at = await inPage(page, () => {
            const { from, head } = storm.past.rewinds.at(-3);
            return { ago: storm.match.server.head() - (from + head) / 2, cells: storm.lane.ahead, cell: 9 };
        });
        await page.mouse.click(box.x + box.width - (at.cells + at.ago) * at.cell, box.y + 40);
        const { head, from } = await inPage(page, () => storm.lane.selected);
        await page.waitForTimeout(300);
        assert.match(await page.textContent('#story'), new RegExp(`^Tick ${head}: .* back to tick ${from}[ ,]`));
        await page.keyboard.press('Escape');
        assert.equal(await inPage(page, () => storm.lane.selected), null);
    }));

test('a page for a game of one\'s own begins with it, and every hash is right', () =>
    withPage(browser, new URL('../../web/own.html', built('storm.html')).href, {}, async (page) => {
        await page.waitForFunction(() => window.storm?.match.server.head() > 120);
        const seen = await inPage(page, () => ({
            game: storm.match.game.name,
            wrong: storm.panes.reduce((sum, { seat }) => sum + seat.client.stats().hashMismatches, 0),
            checks: storm.panes[0].seat.client.stats().hashChecks,
        }));
        assert.equal(seen.game, 'duel');
        assert.equal(seen.wrong, 0);
        assert.ok(seen.checks > 50);
    }));

for (const [width, scheme] of [
    [1280, 'light'],
    [400, 'dark'],
])
    test(`everything has room at ${width} pixels`, () =>
        open(`clients=4&links=${NEAR},${FAR}`, { width, scheme, touch: width < 900 }, async (page) => {
            await reachTick(page, 240);
            await page.click('#play');
            const wide = await inPage(page, () => ({
                page: document.documentElement.scrollWidth,
                window: innerWidth,
                clipped: [...document.querySelectorAll('dd, dt, output, button, h2, li, label')]
                    .filter((it) => it.scrollWidth > it.clientWidth + 1 && getComputedStyle(it).display !== 'inline')
                    .map((it) => it.textContent.slice(0, 40)),
            }));
            assert.ok(wide.page <= wide.window, `${wide.page} > ${wide.window}`);
            assert.deepEqual(wide.clipped, []);
            await page.screenshot({ path: picture(`storm-${width}`) });
            if (width > 900) return;
            await page.click('#play');
            const box = await page.locator('.pane canvas').first().boundingBox();
            await page.evaluate((y) => scrollTo(0, y), box.y - 100);
            const seen = await page.locator('.pane canvas').first().boundingBox();
            await page.touchscreen.tap(seen.x + seen.width * 0.8, seen.y + seen.height / 2);
            await page.waitForFunction(() => storm.panes[0].seat.bot === null);
        }));
