"""The report as one SVG: weekly volume, resolution time against the SLA, and categories."""
import re
from xml.sax.saxutils import escape as escape_markup

WIDTH, HEIGHT = 960, 620
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, SOFT, GRID = "#1f2933", "#6b7785", "#e4e8ec"
COLOURS = {"urgent": "#c8354b", "high": "#ee8c3c", "normal": "#3f7fc1", "low": "#a9c6e3"}
MAX_CATEGORIES = 8
# XML has no way to write these.
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def escape(text):
    return escape_markup(NOT_XML.sub("", text))


def render_chart(report):
    period = report["period"]
    breaches = _count(report["sla"]["breaches"], "SLA breach", "es")
    subtitle = (
        f"{_count(period['tickets'], 'ticket')}, {period['first_created_at'][:10]} to {period['last_created_at'][:10]} · "
        f"{period['open']} open · {breaches} ({report['sla']['breach_rate']:.0%})"
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' font-family="{FONT}" role="img" aria-label="Support tickets">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(40, 44, "Support tickets", size=22, weight=700),
        _text(40, 68, subtitle, size=13, fill=SOFT),
        *_legend(WIDTH - 40, 44),
        *_weekly(report["volumes"]["by_week"], 40, 100, WIDTH - 80, 230),
        *_resolution(report, 40, 392, 420, 190),
        *_categories(report["volumes"]["by_category"], 520, 392, WIDTH - 560, 190),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _count(number, noun, plural="s"):
    return f"{number} {noun}{'' if number == 1 else plural}"


def _text(x, y, text, size=12, fill=INK, weight=400, anchor="start"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}"'
        f' text-anchor="{anchor}">{escape(text)}</text>'
    )


def _rect(x, y, width, height, fill, radius=0, title=""):
    tooltip = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" rx="{radius}"'
        f' fill="{fill}">{tooltip}</rect>'
    )


def _line(x1, y1, x2, y2, stroke=GRID, width=1.0):
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" stroke-width="{width}"/>'
    )


def _legend(right, y):
    parts, x = [], right
    for name, colour in reversed(COLOURS.items()):
        x -= 7 * len(name)
        parts.append(_text(x, y, name, size=12, fill=SOFT))
        x -= 17
        parts.append(_rect(x, y - 10, 11, 11, colour, radius=2))
        x -= 18
    return parts


def _step(highest, lines):
    """A round distance between grid lines, so that about so many of them are needed."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor * lines >= highest:
                return step * factor
        step *= 10


def _weekly(weeks, left, top, width, height):
    plot_left, bottom = left + 34, top + height
    plot_width = width - 34
    step = _step(max(week["count"] for week in weeks), 5)
    lines = -(-max(week["count"] for week in weeks) // step)
    scale = (height - 24) / (step * lines)
    parts = [_text(left, top, "Created per week", size=13, weight=600)]
    for line in range(lines + 1):
        y = bottom - line * step * scale
        parts += [_line(plot_left, y, left + width, y), _text(plot_left - 8, y + 4, str(line * step), 11, SOFT, anchor="end")]
    slot = plot_width / len(weeks)
    bar = min(slot * 0.72, 64)
    labels = max(1, -(-len(weeks) // 13))
    for index, week in enumerate(weeks):
        x, y = plot_left + index * slot + (slot - bar) / 2, bottom
        for priority in reversed(COLOURS):
            count = week["by_priority"][priority]
            y -= count * scale
            if count:
                parts.append(_rect(x, y, bar, count * scale, COLOURS[priority], title=f"{week['week']}: {count} {priority}"))
        if index % labels == 0:
            parts.append(_text(x + bar / 2, bottom + 18, week["week"][5:], 11, SOFT, anchor="middle"))
    return parts


def _resolution(report, left, top, width, height):
    by_priority, targets = report["resolution_hours"]["by_priority"], report["sla"]["targets_hours"]
    parts = [
        _text(left, top, "Hours until resolved, as a share of the SLA", size=13, weight=600),
        _text(left, top + 18, "bar: median · whisker: 90 % of the tickets · line: the SLA", size=11, fill=SOFT),
    ]
    plot_left, plot_width = left + 64, width - 64 - 92
    ratios = [(by_priority[name]["p90"] or 0) / targets[name] for name in COLOURS]
    longest = min(max(*ratios, 1.25), 4)
    row = (height - 34) / len(COLOURS)
    for index, (name, colour) in enumerate(COLOURS.items()):
        middle = top + 34 + row * (index + 0.5)
        parts.append(_text(left, middle + 4, name, 12))
        numbers = by_priority[name]
        if numbers["count"] == 0:
            parts.append(_text(plot_left, middle + 4, "none resolved", 11, SOFT))
            continue
        median = min(numbers["p50"] / targets[name], longest) / longest * plot_width
        whisker = min(numbers["p90"] / targets[name], longest) / longest * plot_width
        parts += [
            _rect(plot_left, middle - 8, median, 16, colour, radius=2),
            _line(plot_left + median, middle, plot_left + whisker, middle, INK, 1.4),
            _line(plot_left + whisker, middle - 5, plot_left + whisker, middle + 5, INK, 1.4),
            _text(left + width, middle + 4, f"{numbers['p50']:.1f} h of {targets[name]:g} h", 11, SOFT, anchor="end"),
        ]
    sla = plot_left + plot_width / longest
    parts.append(_line(sla, top + 34, sla, top + height, "#c8354b", 1.2))
    return parts


def _categories(categories, left, top, width, height):
    shown = categories[:MAX_CATEGORIES]
    rest = sum(category["count"] for category in categories[MAX_CATEGORIES:])
    bars = [(category["name"], category["count"]) for category in shown] + ([("other", rest)] if rest else [])
    label_width = min(max(len(name) for name, _ in bars), 16) * 7 + 14
    longest = max(count for _, count in bars)
    parts = [_text(left, top, "By category", size=13, weight=600)]
    row = (height - 18) / max(len(bars), 4)
    for index, (name, count) in enumerate(bars):
        y = top + 18 + index * row
        length = (width - label_width - 36) * count / longest
        label = name if len(name) <= 16 else f"{name[:15]}…"
        parts += [
            _text(left, y + row / 2 + 4, label, 12),
            _rect(left + label_width, y + row * 0.18, length, row * 0.64, "#5b8a72", radius=2, title=f"{name}: {count}"),
            _text(left + label_width + length + 7, y + row / 2 + 4, str(count), 11, SOFT),
        ]
    return parts
