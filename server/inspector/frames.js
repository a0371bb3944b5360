// The events of the server as objects. Lists of many numbers come as arrays, in the order of
// server/daemon/inspector_text.c.

const TICK = ["tick", "count", "late", "receive", "rewind", "step", "send", "depth", "againTicks", "againSteps", "steps",
  "snapshots", "bytes"];
const CAUSES = ["input", "untold", "roster", "state", "order"];

const record = (names, values) => Object.fromEntries(names.map((name, i) => [name, values[i]]));

export function readHello(hello) {
  const columns = hello.columns.map(([key, form, unit, label]) => ({ key, sum: form === "SUM", unit, label }));
  const at = (key) => columns.findIndex((column) => column.key === key);
  return { ...hello, columns, lostAt: at("lost"), sentAt: at("datagrams") };
}

// The values of a list of entities, `size` numbers each.
export function* entities(list, size) {
  for (let i = 0; i < list.length; i += size) {
    const [id, kind, owner] = [list[i], list[i + 1], list[i + 2]];
    yield { id, kind, owner, tick: size === 6 ? list[i + 3] : null, x: list[i + size - 2], y: list[i + size - 1] };
  }
}

function readClient([cid, user, name, connected, players, ...figures]) {
  return { cid, user, name, connected: connected !== 0, players, raw: figures };
}

function readRewind([head, from, ticks, steps, changed, entityCount, more, causes, changes]) {
  return {
    head, from, ticks, steps, changed, entityCount, more: more !== 0,
    causes: causes.map(([kind, tick, player, cid, user]) => ({ kind: CAUSES[kind], tick, player, cid, user })),
    changes: changes.map(([id, kind, owner, first, last]) => ({ id, kind, owner, first, last })),
  };
}

export function readFrame(frame, now) {
  return {
    number: frame.frame, now, head: frame.head, alive: frame.alive, every: frame.every, map: frame.map,
    lostTicks: frame.lost_ticks, lostRewinds: frame.lost_rewinds, total: frame.client_total, sight: null,
    ticks: frame.ticks.map((tick) => record(TICK, tick)),
    rewinds: frame.rewinds.map(readRewind),
    clients: frame.clients.map(readClient),
  };
}
