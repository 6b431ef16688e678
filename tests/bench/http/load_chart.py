"""A question of the load report as a picture: how often it is answered, and how late at worst, over
the connections. SVG in colours that follow the reader's light or dark screen."""

import math
from xml.sax.saxutils import escape, quoteattr

WIDTH, HEIGHT = 1040, 420
TOP, BOTTOM = 64, 340
PANELS = ((80, 400), (500, 820))  # left and right of each
LEGEND = 850

# The series colours of Okabe and Ito, told apart with any colour vision; markers differ in shape too.
STYLE = """<style>
text{font-family:system-ui,'Segoe UI','DejaVu Sans',Arial,sans-serif;font-size:13px}
.title{font-size:17px;font-weight:600}
.ground{fill:#fdfdfd}.ink{fill:#1b1f24}.muted{fill:#57606a}
.axis{stroke:#1b1f24}.grid{stroke:#d8dee4}.line{fill:none;stroke-width:2}
.s0{stroke:#0072b2}.s1{stroke:#d55e00}.s2{stroke:#008f68}
.f0{fill:#0072b2}.f1{fill:#d55e00}.f2{fill:#008f68}
@media (prefers-color-scheme:dark){
.ground{fill:#0f141a}.ink{fill:#e6edf3}.muted{fill:#9da7b1}
.axis{stroke:#e6edf3}.grid{stroke:#2d353e}
.s0{stroke:#56b4e9}.s1{stroke:#ff9147}.s2{stroke:#2fc79a}
.f0{fill:#56b4e9}.f1{fill:#ff9147}.f2{fill:#2fc79a}
}
</style>
"""
SUBJECTS = ("apspd", "bare", "nginx")


def short(value):
    """Three digits and a unit."""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g}{unit}"
    return f"{value:.3g}"


def words(x, y, text, anchor="middle", style="ink"):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def line(x1, y1, x2, y2, style):
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


class Axis:
    """From values to pixels; ticks are where the grid has lines."""

    def __init__(self, low, high, first, last, logarithmic):
        self.logarithmic = logarithmic
        self.low, self.high = (math.log(low), math.log(high)) if logarithmic else (low, high)
        self.first, self.last = first, last

    def place(self, value):
        at = math.log(value) if self.logarithmic else value
        return self.first + (at - self.low) / (self.high - self.low) * (self.last - self.first)


def round_ticks(high):
    """From 0 on, five or so."""
    step = 10 ** math.floor(math.log10(high / 4))
    while high / step > 6:
        step *= 2 if str(step)[0] != "2" else 2.5
    return [i * step for i in range(int(high / step) + 1)]


def decades(low, high):
    first, last = math.floor(math.log10(low)), math.floor(math.log10(high)) + 1
    return [10.0**power for power in range(first, last + 1)]


def marker(x, y, subject, hollow, tip):
    shapes = (
        f'<circle{{}} cx="{x:.1f}" cy="{y:.1f}" r="4.5">',
        f'<rect{{}} x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8">',
        f'<polygon{{}} points="{x:.1f},{y - 5.4:.1f} {x + 5:.1f},{y + 3.6:.1f} {x - 5:.1f},{y + 3.6:.1f}">',
    )
    style = f' class="s{subject} ground" stroke-width="1.6"' if hollow else f' class="f{subject}"'
    shape = shapes[subject].format(style)
    return f"{shape}<title>{escape(tip)}</title></{shape[1:].split()[0]}>"


def series(points):
    """{(subject, busy): its points by connections}, in the order of the legend."""
    found = {}
    for subject in SUBJECTS:
        for busy in (False, True):
            those = [p for p in points if p["subject"] == subject and p["busy"] == busy]
            if those:
                found[subject, busy] = sorted(those, key=lambda p: p["connections"])
    return found


def panel(points, edges, title, value, axis, ticks):
    left, right = edges
    connections = sorted({p["connections"] for p in points})
    across = Axis(connections[0] / 1.3, connections[-1] * 1.3, left, right, True)
    parts = [words((left + right) / 2, TOP - 14, title)]
    for tick in ticks:
        parts.append(line(left, axis.place(tick), right, axis.place(tick), "grid"))
        parts.append(words(left - 8, axis.place(tick) + 4, short(tick), "end", "muted"))
    for count in connections:
        parts.append(words(across.place(count), BOTTOM + 20, str(count), style="muted"))
    parts.append(line(left, BOTTOM, right, BOTTOM, "axis"))
    parts.append(words((left + right) / 2, BOTTOM + 42, "connections"))
    for (subject, busy), those in series(points).items():
        index = SUBJECTS.index(subject)
        places = [(across.place(p["connections"]), axis.place(value(p)), p) for p in those]
        dashes = ' stroke-dasharray="6 4"' if busy else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        parts.append(f'<polyline class="line s{index}"{dashes} points="{path}"/>')
        for x, y, p in places:
            tip = f"{subject}, {p['connections']} connections: {short(value(p))}"
            parts.append(marker(x, y, index, busy, tip))
    return parts


def legend(points):
    parts = []
    for i, (subject, busy) in enumerate(series(points)):
        y, index = TOP + 14 + 24 * i, SUBJECTS.index(subject)
        dashes = ' stroke-dasharray="6 4"' if busy else ""
        parts.append(f'<polyline class="line s{index}"{dashes} points="{LEGEND},{y} {LEGEND + 34},{y}"/>')
        parts.append(marker(LEGEND + 17, y, index, busy, subject))
        parts.append(words(LEGEND + 44, y + 4, subject + (", a job beside" if busy else ""), "start"))
    return parts


def upright(values, logarithmic):
    """(axis, ticks) that the values fit."""
    if not logarithmic:
        most = 1.08 * max(values)
        return Axis(0, most, BOTTOM, TOP, False), round_ticks(most)
    ticks = decades(min(values), max(values))
    return Axis(ticks[0], ticks[-1], BOTTOM, TOP, True), ticks


def late(point):
    """Never 0, for the logarithm."""
    return max(point["p99_us"], 1) / 1e3


def draw(title, unit, points, rate):
    """The SVG text. rate(point): what the left panel shows, in unit; by powers of ten where its
    subjects are far apart."""
    rates = [rate(p) for p in points]
    far = min(rates) > 0 and max(rates) / min(rates) > 10
    panels = [
        (unit, rate, *upright(rates, far)),
        ("p99, ms", late, *upright([late(p) for p in points], True)),
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label={quoteattr(title)}>',
        f"<title>{escape(title)}</title>",
        STYLE + f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="ink title" x="20" y="30">{escape(title)}</text>',
    ]
    for edges, (name, value, axis, marks) in zip(PANELS, panels):
        parts += panel(points, edges, name, value, axis, marks)
    return "\n".join([*parts, *legend(points), "</svg>", ""])
