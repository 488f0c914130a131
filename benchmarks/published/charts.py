"""Small line charts as SVG, legible on light and dark pages."""

from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 520, 210, 60, 46, 34
COLOURS = ("#2a6f97", "#c9705b", "#6c8f6a")


def lines(title, series, across):
    """Return an SVG of some series of (x, y) points; ``across`` names what runs to the right."""
    points = [point for row in series.values() for point in row]
    right = max(x for x, _ in points) or 1
    high = 1.08 * max(y for _, y in points) or 1
    wide, tall = WIDTH - LEFT - 16, HEIGHT - TOP - BOTTOM
    parts, x = [], LEFT
    for (name, row), colour in zip(series.items(), COLOURS, strict=False):
        path = " ".join(
            f"{LEFT + wide * at / right:.1f},{TOP + tall * (1 - value / high):.1f}"
            for at, value in row
        )
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<rect x="{x}" y="26" width="10" height="10" fill="{colour}"/>'
            f'<text x="{x + 14}" y="35">{escape(name)}</text>'
        )
        x += 34 + 7 * len(name)
    for share in (0, 0.5, 1):
        value = high * share / 1.08
        y = TOP + tall * (1 - share / 1.08)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,.3g}</text>'
            if value < 100
            else f'<line x1="{LEFT}" x2="{WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,.0f}</text>'
        )
    parts.append(
        f'<text x="{LEFT}" y="{HEIGHT - 12}">0</text>'
        f'<text x="{WIDTH - 16}" y="{HEIGHT - 12}" text-anchor="end">'
        f"{right:,.0f} {escape(across)}</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12">'
        "<style>text{fill:#444} .grid{stroke:#888;stroke-opacity:.3}"
        "@media (prefers-color-scheme: dark){text{fill:#ccc}}</style>"
        f'<text x="{LEFT}" y="16" font-weight="600">{escape(title)}</text>' + "".join(parts)
    ) + "</svg>\n"
