"""A bar chart of the comparison with peers, as one SVG file for the README."""

from xml.sax.saxutils import escape

BAR, GAP, LEFT, WIDTH = 16, 5, 170, 760
COLOURS = ("#2a6f97", "#c9705b", "#8a8f98", "#b8a14a", "#6c8f6a")


def bars(title, groups, unit):
    """Return an SVG: ``groups`` maps a label to a list of (name, value), smaller is better."""
    most = max(value for rows in groups.values() for _, value in rows)
    names = list(dict.fromkeys(name for rows in groups.values() for name, _ in rows))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    parts, y = [], 62
    for label, rows in groups.items():
        middle = y + (len(rows) * (BAR + GAP)) / 2
        parts.append(f'<text x="{LEFT - 12}" y="{middle}" text-anchor="end">{escape(label)}</text>')
        for name, value in rows:
            length = max(1.0, value / most * (WIDTH - LEFT - 90))
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" '
                f'fill="{colours[name]}"/><text x="{LEFT + length + 6:.1f}" y="{y + BAR - 4}" '
                f'class="value">{value:.2f}</text>'
            )
            y += BAR + GAP
        y += 14
    legend, x = [], LEFT
    for name, colour in colours.items():
        legend.append(
            f'<rect x="{x}" y="34" width="12" height="12" fill="{colour}"/>'
            f'<text x="{x + 17}" y="44">{escape(name)}</text>'
        )
        x += 34 + 7 * len(name)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" '
        f'font-family="system-ui, sans-serif" font-size="13">'
        f"<style>text{{fill:#444}} .value{{font-size:11px}}"
        f"@media (prefers-color-scheme: dark){{text{{fill:#ccc}}}}</style>"
        f'<text x="{LEFT}" y="18" font-weight="600">{escape(title)} ({escape(unit)})</text>'
        + "".join(legend + parts)
        + "</svg>\n"
    )
