// Opens pages in Debian's Chromium, driven by playwright-core, which run.sh installs in build/browser.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const root = new URL('../../', import.meta.url);
const { chromium } = createRequire(new URL('build/browser/', root))('playwright-core');

const QUIET = ['no-sandbox', 'disable-gpu', 'disable-quic', 'no-first-run', 'disable-background-networking'];
const WAIT_MS = 120000; // only ends a wait that hangs

/** Runs `use` with a browser, which is closed afterwards. */
export async function withBrowser(use) {
    const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium',
        args: [...QUIET, 'disable-component-update', 'disable-sync'].map((word) => `--${word}`),
    });
    try {
        return await use(browser);
    } finally {
        await browser.close();
    }
}

/** Opens `url`, has `use` do what it does with the page, and requires that nothing failed in it. */
export async function withPage(browser, url, { width = 1280, height = 900, scheme = 'light', touch = false }, use) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, hasTouch: touch });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage(),
        troubles = [];
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && troubles.push(message.text()));
    page.on('requestfailed', (request) => troubles.push(`not loaded: ${request.url()}`));
    try {
        await page.goto(url);
        await use(page);
        assert.deepEqual(troubles, []);
    } finally {
        await context.close();
    }
}

/** The URL of a built file. */
export const built = (name) => new URL(`build/wasm/web/${name}`, root).href;

/** A path for a picture that a person looks at. */
export const picture = (name) => new URL(`build/browser/${name}.png`, root).pathname;
