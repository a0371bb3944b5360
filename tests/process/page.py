"""Checks pages of hindcast-load --report.

    page.py [--browser PROGRAM] PAGE...

Every plot has its lines with values, and nothing is loaded. With --browser a real browser draws the page,
and moves a pointer over each plot.
"""
import html.parser, os, re, subprocess, sys, tempfile

PLOTS = {"Clients": {"playing", "joining", "stalled"}, "Work of a tick": {"p99", "median"},
         "Lateness": {"start of a tick, p99", "load test, worst"}, "Processor": {"server", "load test"},
         "Bandwidth of all clients": {"down", "up"}, "Round trip": {"mean of the clients"},
         "Rewinds, rollbacks": {"server", "full clients"},
         "Losses": {"datagrams lost on the link", "stalls of clients"}}

# Appended to a copy of the page: writes the result of drawing into the title.
PROBE = """<script>
onerror = text => { document.title = 'error ' + text; };
let seen = 0;
for (const svg of document.querySelectorAll('svg')) {
  const box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width / 2, clientY: box.top + 5}));
  const outputs = [...svg.parentElement.querySelectorAll('output')];
  const lines = [...svg.querySelectorAll('polyline')];
  if (box.width > 200 && outputs.length == lines.length && outputs.every(o => o.value !== '') &&
      lines.every(l => l.points.numberOfItems == 1 || l.getTotalLength() > 0) &&
      getComputedStyle(lines[0]).stroke != 'none') seen++;
}
if (!document.title.startsWith('error'))
  document.title = 'drawn ' + seen + ' of ' + document.querySelectorAll('figure').length +
    ' wide ' + (document.documentElement.scrollWidth <= innerWidth);
</script>"""


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.plots, self.loads, self.open = {}, [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        have = dict(attributes)
        self.loads += [v for k, v in attributes if k in ("src", "href") and not v.startswith("data:")]
        if tag not in ("meta", "link", "path", "polyline", "circle"):
            self.open.append(tag)
        if tag == "svg":
            self.lines = self.plots[have["aria-label"]] = {}
        if tag == "polyline":
            x, y = ([float(v) for v in have["data-" + k].split()] for k in "xy")
            points = have["points"].split()
            assert len(x) == len(y) == len(points) >= 1 and sorted(x) == x and min(y) >= 0, have
            self.lines[have["data-name"]] = y

    def handle_endtag(self, tag):
        if tag not in ("path", "polyline", "circle"):
            assert self.open.pop() == tag, tag


def check(path):
    text = open(path, encoding="utf-8").read()
    page = Page(text)
    assert not page.loads and not re.search(r"https?://|@import|url\(", text), page.loads
    steps = {"Work of a tick by clients": {"p99", "median"}} if ">Steps<" in text else {}
    assert {name: set(lines) for name, lines in page.plots.items()} == PLOTS | steps, page.plots
    for name, line in ("Clients", "playing"), ("Bandwidth of all clients", "down"), ("Work of a tick", "p99"):
        assert max(page.plots[name][line]) > 0, (name, line)
    assert text.count("<section>") == 3 and "prefers-color-scheme:dark" in text


def draw(browser, path):
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "page.html")
        with open(copy, "w", encoding="utf-8") as out:
            out.write(open(path, encoding="utf-8").read().replace("</body>", PROBE + "</body>"))
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + directory,
                               "--virtual-time-budget=3000", "--window-size=500,900", "--dump-dom",
                               "file://" + copy], capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    figures = done.stdout.count("<figure>")
    assert title and title.group(1) == f"drawn {figures} of {figures} wide true", (title, done.stderr[-500:])


arguments = sys.argv[1:]
browser = None
if arguments[0] == "--browser":
    browser, arguments = arguments[1], arguments[2:]
for page in arguments:
    if browser:
        draw(browser, page)
    else:
        check(page)
