"""Plots as SVG files, without any library: panels of lines over one axis of doublings, or an even one from 0 on."""
import html
import math

WIDTH, HEIGHT = 900, 360  # of two panels beside each other
LEFT, TOP, RIGHT, BOTTOM = 60, 62, 20, 40  # of a panel, around its plot
COLOURS = ("#1559b0", "#d33", "#888")


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}"{more}>{html.escape(words)}</text>'


def number(value):
    return f"{value:,g}"


def ceiling(value):
    """The next of 1, 2, 4, 5 or 8 times a power of ten."""
    power = 10 ** math.floor(math.log10(value)) if value > 0 else 1
    return next(step * power for step in (1, 2, 4, 5, 8, 10) if step * power >= value)


class Panel:
    """One plot: a title and lines, each a name and a value for each x. It leaves out None and what is below 0."""

    def __init__(self, left, top, xs, title, lines):
        self.left, self.top, self.xs, self.title, self.lines = left, top, xs, title, lines
        self.width, self.height = WIDTH / 2 - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        self.most = ceiling(max((v for _, values in lines for v in values if v is not None), default=0))

    def x(self, value):
        if self.xs[0] == 0:
            return self.left + LEFT + self.width * value / self.xs[-1]
        low, high = math.log2(self.xs[0]), math.log2(self.xs[-1])
        return self.left + LEFT + self.width * (math.log2(value) - low) / max(high - low, 1e-9)

    def y(self, value):
        return self.top + TOP + self.height * (1 - value / self.most)

    def axes(self):
        left, right = self.left + LEFT, self.left + LEFT + self.width
        yield f'<path d="M{left:.0f} {self.y(self.most):.0f}V{self.y(0):.0f}H{right:.0f}" fill="none" stroke="#444"/>'
        yield text(left, self.top + 22, self.title)
        for quarter in range(5):
            value = self.most * quarter / 4
            yield text(left - 8, self.y(value) + 5, number(value), ' text-anchor="end"')
        free = -math.inf
        for value in self.xs:
            if self.x(value) - free >= 36:
                free = self.x(value)
                yield text(free, self.y(0) + 20, number(value), ' text-anchor="middle"')

    def line(self, at, name, values):
        points = [(self.x(x), self.y(v)) for x, v in zip(self.xs, values) if v is not None and v >= 0]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline fill="none" stroke="{COLOURS[at]}" stroke-width="2" points="{path}"/>'
        for x, y in points:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[at]}"/>'
        if len(self.lines) > 1:
            yield text(self.left + LEFT + 90 * at, self.top + 44, name, f' fill="{COLOURS[at]}"')

    def draw(self):
        yield from self.axes()
        for at, (name, values) in enumerate(self.lines):
            yield from self.line(at, name, values)


def write(path, x_name, xs, panels):
    """Writes a file with panels, each (title, lines), two beside each other, over the rising `xs`."""
    height = HEIGHT * ((len(panels) + 1) // 2) + 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             'font-family="sans-serif" font-size="14">', f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for i, (title, lines) in enumerate(panels):
        parts += Panel(WIDTH / 2 * (i % 2), HEIGHT * (i // 2), xs, title, lines).draw()
    parts += [text(WIDTH / 2, height - 12, x_name, ' text-anchor="middle"'), "</svg>"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")
