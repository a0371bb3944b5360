// The page: reads the events of the server, and shows the last minute of a match.
//
// The server's words are shown as text alone (textContent), never as markup.
import { readFrame, readHello } from "./frames.js";
import { History } from "./history.js";
import { Map2D, hue } from "./map.js";
import { Plots } from "./plots.js";

const byId = (id) => document.getElementById(id);
const TABLE_EVERY = 5; // frames
const SURE_MS = 4000;  // a kick needs a second click within this time
const RETRY_MS = 5000;

const state = {
  match: Number(new URLSearchParams(location.hash.slice(1)).get("match")) || 1,
  chosen: 0,      // cid of the chosen client; 0: none
  tick: null,     // the chosen tick
  paused: false,
  at: null,       // index of the frame that is shown; null: the newest
  history: null,
  plots: null,
  events: null,
  dirty: true,
  frames: 0,
};
const map = new Map2D(byId("map"));
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function colors() {
  const style = getComputedStyle(document.documentElement);
  const names = ["text", "dim", "line", "grid", "accent", "others", "receive", "rewind", "step", "send"];
  return { dark: dark.matches, ...Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) };
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  return Object.assign(made, attributes);
}

// ---- Words ---------------------------------------------------------------------------------------

const clientName = (client) => client.name || `user …${client.user.slice(-6)}`;

function ownerText(owner) {
  const client = [...(state.history.frames.at(-1)?.clients ?? [])].find((one) => one.players.includes(owner));
  return client?.name ? `player ${owner} (${client.name})` : `player ${owner}`;
}

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
const entityText = ({ id, kind, owner }) =>
  `entity ${id}, ${state.history.hello.kinds[kind]}${owner < 0 ? "" : ` of ${ownerText(owner)}`}`;

function causeText(cause, rewind) {
  const back = count(rewind.head - cause.tick, "tick");
  switch (cause.kind) {
    case "input": return `the input of ${ownerText(cause.player)} for tick ${cause.tick} came ${back} late`;
    case "order": return `the setting --force-rewind, from tick ${cause.tick} on`;
    default: return `${cause.kind} at tick ${cause.tick}`;
  }
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = text === "";
}

function status(text, kind) {
  byId("state").textContent = text;
  byId("state").className = kind;
}

// ---- The shown frame -----------------------------------------------------------------------------

const shown = () => state.history?.frames.at(state.at ?? -1);

function shownClient() {
  return shown()?.clientOf.get(state.chosen);
}

// ---- Clients -------------------------------------------------------------------------------------

// The columns of the table: by the key of the server's columns.
const TABLE = [["rtt", 1], ["jitter", 1], ["loss", 1], ["margin_low", 1], ["delay", 0], ["down", 1], ["up", 1],
  ["rewinds", 1]];
const SHORT = { rtt: "round trip", jitter: "jitter", loss: "loss", margin_low: "margin", delay: "delay", down: "down",
  up: "up", rewinds: "rewinds" };

function columnOf(key) {
  const { columns } = state.history.hello;
  const at = columns.findIndex((column) => column.key === key);
  return at < 0 ? { at: columns.length, unit: "%", label: "Loss of datagrams" } : { at, ...columns[at] };
}

function drawHead() {
  const cells = [element("th", "client"), element("th", "player")];
  for (const [key] of TABLE) {
    const { unit, label } = columnOf(key);
    const cell = element("th", SHORT[key], { title: label });
    cell.append(element("small", unit));
    cells.push(cell);
  }
  cells.push(element("th", ""));
  byId("clients-head").replaceChildren(...cells);
  const figures = [...state.history.hello.columns.map((column) => column.key), "loss"];
  const before = byId("figure").value;
  byId("figure").replaceChildren(...figures.map((key) => {
    const { unit, label } = columnOf(key);
    return element("option", `${label}, ${unit}`, { value: key });
  }));
  byId("figure").value = figures.includes(before) ? before : "rtt";
}

function kickButton(client) {
  const button = element("button", "kick", { type: "button", title: `End the session of ${clientName(client)}` });
  button.dataset.user = client.user;
  return button;
}

function makeRow(client) {
  const row = document.createElement("tr");
  row.dataset.cid = client.cid;
  row.tabIndex = 0;
  const name = element("td", clientName(client), { title: `user ${client.user}` });
  const last = document.createElement("td");
  last.append(kickButton(client));
  row.append(name, document.createElement("td"), ...TABLE.map(() => document.createElement("td")), last);
  return row;
}

function fillRow(row, client) {
  const cells = row.children;
  cells[1].textContent = client.players.join(" ") || "watches";
  TABLE.forEach(([key, digits], i) => {
    const value = client.figures[columnOf(key).at];
    cells[2 + i].textContent = value === null || value === undefined ? "–" : value.toFixed(digits);
  });
  row.classList.toggle("chosen", client.cid === state.chosen);
  row.classList.toggle("away", !client.connected);
}

// Renews the rows in place: a button that is about to be pressed stays where it is.
function drawClients() {
  const frame = shown(), body = byId("clients");
  const rows = new Map([...body.children].map((row) => [Number(row.dataset.cid), row]));
  for (const client of frame?.clients ?? []) {
    const row = rows.get(client.cid) ?? body.appendChild(makeRow(client));
    rows.delete(client.cid);
    fillRow(row, client);
  }
  for (const row of rows.values())
    row.remove();
  const listed = frame?.clients.length ?? 0, total = frame?.total ?? 0;
  byId("clients-count").textContent = listed < total ? `${listed} of ${total}` : `${total}`;
}

function choose(cid) {
  state.chosen = state.chosen === cid ? 0 : cid;
  byId("clients-hint").hidden = state.chosen !== 0;
  connect();
  drawClients();
  state.dirty = true;
}

async function kick(button) {
  if (!button.classList.contains("sure")) {
    button.classList.add("sure");
    button.textContent = "sure?";
    setTimeout(() => {
      button.classList.remove("sure");
      button.textContent = "kick";
    }, SURE_MS);
    return;
  }
  button.disabled = true;
  try {
    const answer = await fetch("/kick", { method: "POST", body: new URLSearchParams({ user: button.dataset.user }) });
    const text = (await answer.text()).trim();
    notice(answer.ok ? "" : `The kick failed: ${text}`);
  } catch {
    notice("The kick failed: the server does not answer.");
  }
  button.disabled = false;
}

// ---- The chosen tick -----------------------------------------------------------------------------

function listOf(texts) {
  const list = document.createElement("ul");
  list.append(...texts.map((text) => element("li", text)));
  return list;
}

function rewindPart(rewind) {
  const part = document.createElement("div");
  part.append(element("h3", `Before tick ${rewind.head + 1}: back to tick ${rewind.from}`));
  part.append(element("p", `${count(rewind.ticks, "tick")} again, ${count(rewind.steps, "step")}; ` +
    `${count(rewind.changed, "state")} of ${count(rewind.entityCount, "entit").replace(/entits$/, "entities").replace(/entit$/, "entity")} changed.`));
  const causes = rewind.causes.map((cause) => causeText(cause, rewind));
  if (rewind.more)
    causes.push("and other inputs");
  part.append(element("p", "Because"), listOf(causes));
  const changes = rewind.changes.map((change) => `${entityText(change)}: ` +
    (change.first === change.last ? `tick ${change.first}` : `ticks ${change.first} to ${change.last}`));
  if (rewind.entityCount > rewind.changes.length)
    changes.push(`and ${rewind.entityCount - rewind.changes.length} more`);
  if (changes.length > 0)
    part.append(element("p", "Changed"), listOf(changes));
  return part;
}

function drawTick() {
  const holder = byId("tick");
  byId("tick-number").textContent = state.tick ?? "none chosen";
  byId("tick-hint").hidden = state.tick !== null;
  if (state.tick === null || state.history === null) {
    holder.replaceChildren();
    return;
  }
  const tick = state.history.ticks.find((one) => one.tick === state.tick);
  const parts = [];
  if (tick)
    parts.push(element("p", `Began ${(tick.late / 1000).toFixed(2)} ms late. Receive ${(tick.receive / 1000).toFixed(2)}, ` +
      `rewind ${(tick.rewind / 1000).toFixed(2)}, new tick ${(tick.step / 1000).toFixed(2)}, send ` +
      `${(tick.send / 1000).toFixed(2)} ms; ${count(tick.snapshots, "snapshot")}, ${tick.bytes} bytes.`));
  const rewinds = state.history.rewindsOf(state.tick);
  parts.push(element("p", rewinds.length === 0 ? "No rewind of the last minute reached it."
    : `${count(rewinds.length, "rewind")} reached it:`));
  holder.replaceChildren(...parts, ...rewinds.map(rewindPart));
}

// ---- Drawing -------------------------------------------------------------------------------------

function drawLegend(kinds) {
  const entry = (color, text) => {
    const item = document.createElement("li"), dot = document.createElement("i");
    dot.style.background = color;
    item.append(dot, text);
    return item;
  };
  const look = colors();
  const entries = [entry(hue(0, look.dark), `${kinds[1]} and its slots, a colour for each player`),
    entry(look.others, "of nobody")];
  if (state.chosen !== 0)
    entries.push(entry(look.accent, "ring: as the chosen client was sent it"));
  byId("map-legend").replaceChildren(...entries);
}

function draw() {
  const frame = shown(), { history, plots } = state;
  if (!history || !plots)
    return;
  map.draw(frame, shownClient(), colors());
  if (frame) {
    const listed = frame.map.length / 5;
    byId("map-count").textContent = listed < frame.alive ? `${listed} of ${frame.alive} entities` : `${frame.alive} entities`;
    const ago = (history.frames.at(-1).head - frame.head) / history.hello.tick_rate;
    byId("when").textContent = `tick ${frame.head}${ago > 0 ? `, ${ago.toFixed(1)} s ago` : ""}`;
  }
  byId("scrub").max = Math.max(0, history.frames.length - 1);
  byId("scrub").value = state.at ?? history.frames.length - 1;
  byId("ticks-count").textContent = `a tick lasts ${plots.budget.toFixed(1)} ms`;
  plots.drawTicks(history.ticks);
  const column = columnOf(byId("figure").value);
  plots.drawFigure(history, column, column.at, state.chosen);
  drawFigureText(column);
}

function drawFigureText(column) {
  const client = shownClient(), value = client?.figures[column.at];
  const values = (shown()?.clients ?? []).map((one) => one.figures[column.at])
    .filter((one) => one !== null && one !== undefined).sort((a, b) => a - b);
  if (values.length === 0) {
    byId("figure-text").textContent = "No client has this figure yet.";
    return;
  }
  const own = client ? `${clientName(client)}: ${value?.toFixed(1) ?? "unknown"} ${column.unit}. ` : "";
  byId("figure-text").textContent = `${own}Of all clients: ${values[0].toFixed(1)} to ${values.at(-1).toFixed(1)}, ` +
    `median ${values[Math.floor((values.length - 1) / 2)].toFixed(1)} ${column.unit}.`;
}

function makePlots() {
  const holders = { work: byId("plot-work"), depth: byId("plot-depth"), figure: byId("plot-figure") };
  state.plots = new Plots(holders, state.history.hello, colors(), {
    tick: () => state.tick,
    seconds: () => (state.at === null ? null : (shown().head - state.history.frames.at(-1).head) / state.history.hello.tick_rate),
    click: (tick) => {
      state.tick = tick;
      drawTick();
      state.dirty = true;
    },
  });
  drawLegend(state.history.hello.kinds);
  state.dirty = true;
}

function drawIfDirty() {
  if (state.dirty && !document.hidden) {
    state.dirty = false;
    draw();
  }
  requestAnimationFrame(drawIfDirty);
}

// ---- Events --------------------------------------------------------------------------------------

function onHello(event) {
  const hello = readHello(JSON.parse(event.data));
  const { history } = state;
  byId("game").textContent = `${hello.game} ${hello.game_version}, ${hello.tick_rate} Hz, hindcastd ${hello.version}`;
  byId("match-label").hidden = hello.matches === 1;
  byId("match").max = hello.matches;
  byId("match").value = hello.match;
  // After another choice of client, the history goes on.
  if (history && history.hello.worlds === hello.worlds && history.hello.match === hello.match)
    return;
  if (history && history.hello.match === hello.match)
    notice(`The match has another world: number ${hello.worlds}.`);
  state.history = new History(hello);
  state.at = state.tick = null;
  map.forget();
  drawHead();
  makePlots();
  drawTick();
}

function onFrame(event) {
  if (state.paused || !state.history)
    return;
  const frame = readFrame(JSON.parse(event.data), performance.now());
  const newest = state.history.frames.at(-1);
  if (newest && frame.head <= newest.head)
    return;
  frame.sight = null;
  state.history.add(frame);
  if (state.frames++ % TABLE_EVERY === 0)
    drawClients();
  status("live", "live");
  state.dirty = true;
}

function onSight(event) {
  const sight = JSON.parse(event.data), newest = state.history?.frames.at(-1);
  if (newest && newest.number === sight.frame && sight.cid === state.chosen)
    newest.sight = sight;
  state.dirty = true;
}

function onSilence(event) {
  const silence = JSON.parse(event.data);
  if (!state.paused)
    status(`silent for ${Math.round(silence.silent_ms / 1000)} s: ${silence.why}`, "silent");
}

// The connection has ended, or was refused: asks why, and tries again.
async function onError(events, address) {
  status("the server does not answer", "lost");
  if (events.readyState !== EventSource.CLOSED)
    return; // the browser tries again
  const abort = new AbortController();
  try {
    const answer = await fetch(address, { signal: abort.signal });
    if (!answer.ok)
      status((await answer.text()).trim(), "lost");
    abort.abort();
  } catch {
    // there is no answer to show
  }
  setTimeout(() => {
    if (state.events === events)
      connect();
  }, RETRY_MS);
}

function connect() {
  state.events?.close();
  const address = `/inspector/events?match=${state.match}${state.chosen !== 0 ? `&client=${state.chosen}` : ""}`;
  const events = new EventSource(address);
  state.events = events;
  events.addEventListener("hello", onHello);
  events.addEventListener("frame", onFrame);
  events.addEventListener("sight", onSight);
  events.addEventListener("silence", onSilence);
  events.addEventListener("error", () => onError(events, address));
  if (state.history)
    drawLegend(state.history.hello.kinds);
}

// ---- Controls ------------------------------------------------------------------------------------

function pause(paused) {
  state.paused = paused;
  byId("pause").textContent = paused ? "Go on" : "Pause";
  byId("pause").setAttribute("aria-pressed", paused);
  status(paused ? "paused" : "live", paused ? "paused" : "live");
  if (!paused)
    state.at = null;
  state.dirty = true;
}

byId("pause").addEventListener("click", () => pause(!state.paused));
byId("scrub").addEventListener("input", () => {
  pause(true);
  state.at = Number(byId("scrub").value);
  drawClients();
});
byId("match").addEventListener("change", () => {
  state.match = Math.max(1, Number(byId("match").value) || 1);
  location.hash = `match=${state.match}`;
  state.history = null;
  state.chosen = 0;
  notice("");
  drawClients();
  connect();
});
byId("figure").addEventListener("change", () => {
  state.dirty = true;
});
byId("clients").addEventListener("click", (event) => {
  const button = event.target.closest("button"), row = event.target.closest("tr");
  if (button)
    kick(button);
  else if (row)
    choose(Number(row.dataset.cid));
});
byId("clients").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("tr"))
    choose(Number(event.target.dataset.cid));
});
dark.addEventListener("change", () => state.history && makePlots());
new ResizeObserver(() => {
  state.dirty = true;
}).observe(byId("map"));

connect();
requestAnimationFrame(drawIfDirty);
