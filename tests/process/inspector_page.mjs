// Looks at the inspector's page in Chromium.
//
// usage: inspector_page.mjs AT STEP WIDTH THEME [ARGUMENT]; the steps are the functions below.
import { pathToFileURL } from "node:url";
import { writeFileSync } from "node:fs";
import assert from "node:assert";

const { chromium } = await import(pathToFileURL(`${process.env.HC_MODULES}/playwright-core/index.mjs`));
const [at, step, width, theme, argument] = process.argv.slice(2);
const WAIT = { timeout: 60000, polling: 50 };
const faults = [];
const asked = new Set();

const rows = (page) => page.locator("#clients tr").count();

// Waits until the function, which runs in the page, returns true for the argument.
const until = (page, test, value) => page.waitForFunction(test, value, WAIT);

// How many different colours a canvas has: an empty one has few.
const colours = (page, selector) => page.evaluate((of) => {
  const canvas = document.querySelector(of);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  for (let i = 0; i < data.length; i += 4)
    found.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return found.size;
}, selector);

async function chooseClient(page) {
  await page.click("#clients tr:nth-child(2) td:nth-child(3)");
  await until(page, () => document.querySelectorAll("#clients tr.chosen").length === 1);
}

// The middle of a plot's newest part.
async function clickTick(page) {
  const over = page.locator("#plot-depth .u-over");
  const { width: wide, height } = await over.boundingBox();
  await over.click({ position: { x: wide * 0.9, y: height / 2 } });
}

const steps = {
  async whole(page) {
    assert.equal(await rows(page), 8);
    assert.match(await page.textContent("#clients tr td"), /^<i>Bot<\/i>/);
    assert.equal(await page.locator("#clients i").count(), 0);
    await chooseClient(page);
    await until(page, () => document.querySelectorAll("#map-legend li").length === 3);
    // Two seconds of ticks, so that there are rewinds to look at.
    await until(page, (from) => Number(document.querySelector("#when").textContent.match(/tick (\d+)/)?.[1]) > from,
      Number((await page.textContent("#when")).match(/tick (\d+)/)[1]) + 120);
    for (const canvas of ["#map", "#plot-work canvas", "#plot-depth canvas", "#plot-figure canvas"])
      assert.ok(await colours(page, canvas) > 4, `${canvas} is empty`);
    await clickTick(page);
    await until(page, () => /^\d+$/.test(document.querySelector("#tick-number").textContent));
    assert.match(await page.textContent("#tick"), /rewinds? reached it:.*came \d+ ticks? late/s);
    // Between two rounds of the arena, inputs change nothing.
    assert.match(await page.textContent("#tick"), /entity \d+, player of|: 0 states|; 0 states/);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, "the page is too wide");
    const cut = await page.evaluate(() => [...document.querySelectorAll("section")]
      .filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.id));
    assert.deepEqual(cut, []);
    await page.evaluate(() => window.scrollTo(0, 0));
    if (argument)
      await page.screenshot({ path: `${argument}/inspector-${width}-${theme}.png`, fullPage: true });
  },

  async kick(page) {
    assert.equal(await rows(page), 8);
    writeFileSync(argument, "");
    await until(page, () => document.querySelectorAll("#clients tr").length === 9);
    const button = page.locator("#clients tr", { hasText: "Ninth" }).locator("button");
    await button.click();
    assert.equal(await button.textContent(), "sure?");
    await button.click();
    await until(page, () => document.querySelectorAll("#clients tr").length === 8);
    assert.ok(await page.locator("#notice").isHidden());
  },

  async pause(page) {
    await page.click("#pause");
    const when = await page.textContent("#when");
    await page.waitForTimeout(400);
    assert.equal(await page.textContent("#when"), when);
    await page.locator("#scrub").focus();
    await page.keyboard.press("Home");
    await until(page, () => / s ago/.test(document.querySelector("#when").textContent));
    await page.click("#pause");
    await until(page, (before) => document.querySelector("#when").textContent !== before, when);
    assert.equal(await page.textContent("#state"), "live");
  },

  async gone(page) {
    process.kill(Number(argument), "SIGTERM");
    await until(page, () => document.querySelector("#state").className === "lost");
    faults.length = 0; // the browser reports the lost connection
  },
};

const browser = await chromium.launch({ executablePath: process.env.HC_CHROMIUM, args: ["--no-sandbox"] });
try {
  const context = await browser.newContext({ viewport: { width: Number(width), height: 900 }, colorScheme: theme });
  const page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => asked.add(new URL(request.url()).host));
  await page.goto(`http://${at}/`, { timeout: 60000 });
  await until(page, () => document.querySelectorAll("#clients tr").length >= 8);
  await steps[step](page);
  assert.deepEqual(faults, []);
  assert.deepEqual([...asked].filter((host) => host !== at && host !== ""), []);
} finally {
  await browser.close();
}
