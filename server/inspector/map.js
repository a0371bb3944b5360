// The map: positions from above, by the fields that the game's tables name, and beside them those
// that a client was sent.
import { entities } from "./frames.js";

const MARGIN = 16; // pixels
const STRIP = 20;  // pixels at the bottom, for the scale

export const hue = (owner, dark) => `hsl(${(owner * 137.5) % 360} 70% ${dark ? 62 : 40}%)`;

export class Map2D {
  constructor(canvas) {
    this.canvas = canvas;
    this.forget();
  }

  forget() {
    this.bounds = null;
  }

  // Widens the bounds to the positions of a frame: they never shrink, so the picture stands still.
  widen(frame) {
    for (const { x, y } of entities(frame.map, 5)) {
      this.bounds ??= { left: x, right: x, top: y, bottom: y };
      this.bounds.left = Math.min(this.bounds.left, x);
      this.bounds.right = Math.max(this.bounds.right, x);
      this.bounds.top = Math.min(this.bounds.top, y);
      this.bounds.bottom = Math.max(this.bounds.bottom, y);
    }
  }

  // The scale in pixels, and the place of a position.
  projection(width, height) {
    const { left, right, top, bottom } = this.bounds;
    const scale = Math.min((width - 2 * MARGIN) / Math.max(1, right - left),
      (height - STRIP - 2 * MARGIN) / Math.max(1, bottom - top));
    const x0 = (width - (right - left) * scale) / 2, y0 = (height - STRIP - (bottom - top) * scale) / 2;
    return { scale, place: (x, y) => [x0 + (x - left) * scale, y0 + (y - top) * scale] };
  }

  draw(frame, chosen, colors) {
    const { canvas } = this, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    if (frame)
      this.widen(frame);
    if (!frame || !this.bounds) {
      context.fillStyle = colors.dim;
      context.font = "13px system-ui, sans-serif";
      context.fillText("No entity with a position is alive.", MARGIN, 2 * MARGIN);
      return;
    }
    const projection = this.projection(width, height);
    const sent = new Map(frame.sight ? [...entities(frame.sight.sent, 6)].map((entity) => [entity.id, entity]) : []);
    this.drawFrame(context, projection, colors);
    for (const entity of entities(frame.map, 5))
      this.drawEntity(context, projection, entity, sent.get(entity.id), frame.sight !== null, chosen, colors);
    this.drawScale(context, projection, width, height, colors);
  }

  // The edge of what was seen so far.
  drawFrame(context, { place }, colors) {
    const [left, top] = place(this.bounds.left, this.bounds.top);
    const [right, bottom] = place(this.bounds.right, this.bounds.bottom);
    context.strokeStyle = colors.line;
    context.strokeRect(left - 8, top - 8, right - left + 16, bottom - top + 16);
  }

  drawEntity(context, { place }, entity, sent, watched, chosen, colors) {
    const [x, y] = place(entity.x, entity.y);
    const own = chosen?.players.includes(entity.owner);
    const radius = entity.owner < 0 ? 2.5 : entity.kind === 1 ? 5 : 2.5;
    const color = entity.owner < 0 ? colors.others : hue(entity.owner, colors.dark);
    context.globalAlpha = watched && !sent ? 0.3 : 1;
    context.fillStyle = color;
    context.beginPath();
    if (entity.owner < 0)
      context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    else
      context.arc(x, y, radius, 0, 7);
    context.fill();
    context.globalAlpha = 1;
    if (own && entity.kind === 1) {
      context.strokeStyle = colors.text;
      context.lineWidth = 1.5;
      context.beginPath();
      context.arc(x, y, radius + 4, 0, 7);
      context.stroke();
    }
    if (sent)
      this.drawSent(context, place(sent.x, sent.y), [x, y], radius, colors);
  }

  drawSent(context, [x, y], [toX, toY], radius, colors) {
    context.strokeStyle = colors.accent;
    context.lineWidth = 1.2;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.stroke();
    context.beginPath();
    context.arc(x, y, radius + 1.5, 0, 7);
    context.stroke();
  }

  // A bar of a round number of the game's units.
  drawScale(context, { scale }, width, height, colors) {
    const wanted = width / 5 / scale, power = 10 ** Math.floor(Math.log10(wanted));
    const units = power * (wanted / power >= 5 ? 5 : wanted / power >= 2 ? 2 : 1);
    const x = MARGIN, y = height - 8;
    context.fillStyle = context.strokeStyle = colors.text;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, y - 4);
    context.lineTo(x, y);
    context.lineTo(x + units * scale, y);
    context.lineTo(x + units * scale, y - 4);
    context.stroke();
    context.font = "11px system-ui, sans-serif";
    context.fillText(`${units} units`, x + units * scale + 6, y);
  }
}
