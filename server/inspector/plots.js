// The plots, by uPlot: the work of ticks by phase, the depth of rewinds, and a figure of all clients.

const HEIGHT = 200, LOW = 150; // pixels, with the axis
const PHASES = [["receive", "receive"], ["rewind", "rewind"], ["step", "new tick"], ["send", "send"]];

const FONT = "11px system-ui, sans-serif";
const axis = (colors, label, rest) => ({
  stroke: colors.dim, font: FONT, labelFont: FONT, label, labelSize: 14, labelGap: 0, gap: 3,
  grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.line, width: 1, size: 4 }, ...rest,
});
const xAxis = (colors, label, rest = {}) => axis(colors, label, { size: 22, ...rest });
const yAxis = (colors, label) => axis(colors, label, { size: 40, space: 24 });

// The value below which so many of the numbers lie.
function percentile(numbers, part) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted.length === 0 ? 0 : sorted[Math.floor((sorted.length - 1) * part)];
}

// Draws a line at a position of the x axis: the chosen tick, or the time that is shown.
function marker(position, color) {
  return {
    hooks: {
      draw: (plot) => {
        const at = position();
        if (at === null || at < plot.scales.x.min || at > plot.scales.x.max)
          return;
        const x = Math.round(plot.valToPos(at, "x", true)), { ctx, bbox } = plot;
        ctx.save();
        ctx.strokeStyle = color;
        ctx.lineWidth = 2;
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.restore();
      },
    },
  };
}

const number = (digits) => (plot, value) => (value === null || value === undefined ? "–" : value.toFixed(digits));

// A plot in `holder`, which fits its width; `clicked` is given the position on the x axis.
function make(holder, options, clicked) {
  holder.replaceChildren();
  const plot = new uPlot({ width: Math.max(200, holder.clientWidth), ...options }, null, holder);
  new ResizeObserver(() => {
    if (holder.contains(plot.root) && holder.clientWidth > 0)
      plot.setSize({ width: holder.clientWidth, height: options.height });
  }).observe(holder);
  if (clicked)
    plot.over.addEventListener("click", () => {
      if (plot.cursor.idx !== null && plot.data[0].length > 0)
        clicked(plot.data[0][plot.cursor.idx]);
    });
  return plot;
}

// The ticks, with one that is a gap where some did not come: there the lines end.
function withGaps(ticks) {
  const all = [];
  for (const tick of ticks) {
    const before = all.at(-1);
    if (before && tick.tick - tick.count > before.tick)
      all.push({ tick: before.tick + 1, gap: true });
    all.push(tick);
  }
  return all;
}

export class Plots {
  constructor(holders, hello, colors, chosen) {
    this.hello = hello;
    this.budget = 1000 / hello.tick_rate;
    this.top = 1; // ms, of the work's plot
    const clickTick = (tick) => chosen.click(tick);
    this.work = this.makeWork(holders.work, colors, chosen, clickTick);
    this.depth = make(holders.depth, {
      height: LOW, cursor: { sync: { key: "ticks" }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: (plot, low, high) => [0, Math.max(4, high ?? 4)] } },
      axes: [xAxis(colors, "tick"), yAxis(colors, "ticks")],
      series: [{ label: "tick" }, {
        label: "rewound by", stroke: colors.rewind, fill: colors.rewind, width: 1, points: { show: false },
        paths: uPlot.paths.bars({ size: [1, 6] }), value: number(0),
      }],
      plugins: [marker(chosen.tick, colors.accent)],
    }, clickTick);
    this.figure = null;
    this.figureKey = "";
    this.figureHolder = holders.figure;
    this.colors = colors;
    this.chosen = chosen;
  }

  // Phases stand on each other: the highest line is their sum. The budget is a line of its own.
  makeWork(holder, colors, chosen, clicked) {
    const inMs = (value) => (value === null || value === undefined ? "–" : `${value.toFixed(2)} ms`);
    // The highest stack is drawn first, so that the lower ones cover it.
    const series = [...PHASES].reverse().map(([key, label], i) => ({
      label, stroke: colors[key], fill: colors[key], width: 1, points: { show: false },
      value: (plot, value, at, index) => {
        const below = i + 1 < PHASES.length && index !== null ? plot.data[at + 1][index] : 0;
        return inMs(value === null || value === undefined ? value : value - below);
      },
    }));
    return make(holder, {
      height: HEIGHT, cursor: { sync: { key: "ticks" }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: () => [0, this.top] } },
      axes: [xAxis(colors, "tick"), yAxis(colors, "ms")],
      series: [{ label: "tick" }, ...series, {
        label: "began late by", stroke: colors.text, width: 1, points: { show: false }, show: false,
        value: (plot, value) => inMs(value),
      }],
      plugins: [marker(chosen.tick, colors.accent)],
    }, clicked);
  }

  drawTicks(all) {
    const ticks = withGaps(all), x = ticks.map((tick) => tick.tick), sums = [];
    const values = (of) => ticks.map((tick, i) => (tick.gap ? null : of(tick, i)));
    let below = new Array(ticks.length).fill(0);
    for (const [key] of PHASES) {
      const under = below;
      below = values((tick, i) => under[i] + tick[key] / 1000);
      sums.unshift(below);
    }
    const late = values((tick) => tick.late / 1000);
    // A few slow ticks leave the picture, so that the others can be seen. A gap counts as 0.
    const lateShown = this.work.series.at(-1).show;
    this.top = Math.max(0.2, 1.2 * percentile(sums[0], 0.995), lateShown ? 1.2 * percentile(late, 0.99) : 0);
    this.work.setData([x, ...sums, late]);
    this.depth.setData([x, values((tick) => tick.depth)]);
  }

  // A line for each client; the chosen one's is the thick one.
  drawFigure(history, column, index, chosenCid) {
    const clients = history.clients();
    const key = `${index} ${chosenCid} ${clients.map((client) => client.cid).join()}`;
    if (key !== this.figureKey) {
      this.figureKey = key;
      this.figure = this.makeFigure(column, clients, chosenCid);
    }
    const { frames } = history, rate = history.hello.tick_rate, newest = frames.at(-1)?.head ?? 0;
    const lines = clients.map((client) =>
      frames.map((frame) => frame.clientOf.get(client.cid)?.figures[index] ?? null));
    this.figure.setData([frames.map((frame) => (frame.head - newest) / rate), ...lines]);
  }

  makeFigure(column, clients, chosenCid) {
    const { colors } = this;
    const line = (client) => (client.cid === chosenCid
      ? { stroke: colors.accent, width: 2.5, points: { show: false } }
      : { stroke: colors.others, width: 1, points: { show: false } });
    return make(this.figureHolder, {
      height: HEIGHT, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: [-60, 0] }, y: { range: (plot, low, high) => this.figureRange(low, high) } },
      axes: [xAxis(colors, "seconds ago", { values: (plot, values) => values.map((value) => -value) }),
        yAxis(colors, column.unit)],
      series: [{}, ...clients.map(line)],
      plugins: [marker(this.chosen.seconds, colors.accent)],
    });
  }

  // From zero, unless all values are far from it and near each other.
  figureRange(low, high) {
    if (low === null || high === null)
      return [0, 1];
    const width = Math.max(high - low, 0.02 * Math.abs(high), 0.1);
    const bottom = low > 2 * width ? low - width / 2 : Math.min(0, low - (low < 0 ? width / 10 : 0));
    return [bottom, Math.max(high + width / 10, bottom + 1)];
  }
}
