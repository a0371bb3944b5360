// The last minute of a match: its frames, its ticks and its rewinds.

const SECONDS = 60;
const RATE_FRAMES = 10; // a growth is measured over so many frames: about a second

export class History {
  constructor(hello) {
    this.hello = hello;
    this.frames = [];
    this.ticks = [];
    this.rewinds = [];
  }

  // The loss of datagrams between two readings of a client, in percent.
  static loss(hello, now, before) {
    const sent = now[hello.sentAt] - before[hello.sentAt];
    return sent > 0 ? 100 * (now[hello.lostAt] - before[hello.lostAt]) / sent : null;
  }

  // The figures of a client in a frame: by column, and the loss at the end.
  figures(client, before, seconds) {
    const { columns } = this.hello;
    const old = before?.clientOf.get(client.cid);
    const values = columns.map((column, i) => {
      if (!column.sum)
        return client.raw[i];
      return old && seconds > 0 ? Math.max(0, (client.raw[i] - old.raw[i]) / seconds) : null;
    });
    values.push(old ? History.loss(this.hello, client.raw, old.raw) : null);
    return values;
  }

  add(frame) {
    const { frames } = this;
    const before = frames[Math.max(0, frames.length - RATE_FRAMES)];
    const seconds = before ? (frame.head - before.head) / this.hello.tick_rate : 0;
    frame.clientOf = new Map(frame.clients.map((client) => [client.cid, client]));
    for (const client of frame.clients)
      client.figures = this.figures(client, before, seconds);
    frames.push(frame);
    this.ticks.push(...frame.ticks);
    this.rewinds.push(...frame.rewinds);
    this.trim(frame.head - SECONDS * this.hello.tick_rate);
  }

  // Forgets what is older than a minute.
  trim(oldest) {
    const from = (list, key) => {
      const at = list.findIndex((item) => item[key] >= oldest);
      if (at !== 0)
        list.splice(0, at < 0 ? list.length : at);
    };
    from(this.frames, "head");
    from(this.ticks, "tick");
    from(this.rewinds, "head");
  }

  // The rewinds in which the step of `tick` was taken again, or that the new tick began with.
  rewindsOf(tick) {
    return this.rewinds.filter((rewind) => rewind.from < tick && tick <= rewind.head + 1);
  }

  // The clients of all frames, in the order in which they came.
  clients() {
    const found = new Map();
    for (const frame of this.frames)
      for (const client of frame.clients)
        found.set(client.cid, client);
    return [...found.values()];
  }
}
