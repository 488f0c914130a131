/**
 * Lines through points, on scales of your choice.
 *
 *   curve(host, {
 *     label: "Headroom",
 *     series: [{ name: "by hour", points: [[0.5, 0], [1, 0.2]], color: "d1", shape: "line", dots: true }],
 *     x: { low: 0.1, high: 10, scale: "ratio", base: 2, format: multiple, title: "load" },
 *     y: { low: 0, high: 1, scale: "linear", format: percent, title: "calls throttled",
 *       lowText: "" },                      // what the lowest mark says, if not its value
 *     guides: [{ x: 1, text: "this load" }, { y: 0.001, text: "limit" }],
 *     height: 240,
 *   }) -> { update(options), redraw(), remove() }
 */

import { element, fill, svgElement } from "./dom.js";
import { axes, legend, plot } from "./plot.js";
import { linear, ratio } from "./scales.js";

export function curve(host, options) {
  const state = { height: 250, guides: [], ...options }, keys = element("div");
  state.series = state.series.map((series) => ({ isOn: true, ...series }));
  host.append(keys);
  const chart = plot(host, { label: state.label, draw: (svg, width) => draw(svg, width, state) });
  const showLegend = () => {
    const entries = state.series.map((series) => ({
      shape: series.isGuide ? "dash" : "line",
      ...series,
    }));
    fill(keys, entries.length > 1 ? legend(entries, toggle) : null);
  };
  const toggle = (index) => {
    state.series[index].isOn = !state.series[index].isOn;
    showLegend();
    chart.redraw();
  };
  showLegend();
  return chart;
}

function scaleOf({ scale, low, high, base, most }, start, end) {
  return scale === "ratio"
    ? ratio(low, high, start, end, base)
    : linear(low, high, start, end, { most: most ?? 4 });
}

function draw(svg, width, state) {
  const box = { left: 48, top: 24, right: width - 14, bottom: state.height - 38 };
  const x = scaleOf(state.x, box.left, box.right), y = scaleOf(state.y, box.bottom, box.top);
  axes(svg, box, {
    x,
    y,
    formatX: state.x.format,
    formatY: (value) =>
      state.y.lowText && value <= state.y.low * 1.01 ? state.y.lowText : state.y.format(value),
    titleX: state.x.title,
    titleY: state.y.title,
  });
  for (const guide of state.guides) drawGuide(svg, guide, { x, y, box });
  const shown = state.series.filter((series) => series.isOn);
  for (const series of shown) drawSeries(svg, series, x, y);
  const stops = shown.flatMap((series) =>
    series.isGuide ? [] : series.points.map(([a, b, lines]) => ({
      x: x(a),
      y: y(b),
      color: series.color,
      title: `${series.name}`,
      lines: lines ?? [
        { name: state.x.name ?? state.x.title, text: state.x.format(a) },
        { name: state.y.name ?? state.y.title, text: state.y.format(b), color: series.color },
      ],
    }))
  );
  return {
    height: state.height,
    count: stops.length,
    stop: (index) => stops[index],
    nearest: (px, py) => closest(stops, px, py),
    mark: (stop) => [
      svgElement("line", { class: "cross", x1: stop.x, y1: box.top, x2: stop.x, y2: box.bottom }),
      svgElement("circle", { class: `dot ${stop.color}`, cx: stop.x, cy: stop.y, r: 4.5 }),
    ],
  };
}

function drawGuide(svg, guide, { x, y, box }) {
  if (guide.y !== undefined) {
    const height = y(guide.y);
    svg.append(
      svgElement("line", { class: "level", x1: box.left, y1: height, x2: box.right, y2: height }),
      svgElement("text", { class: "note end", x: box.right, y: height - 4 }, guide.text),
    );
    return;
  }
  const middle = x(guide.x), isRight = middle > (box.left + box.right) / 2;
  svg.append(
    svgElement("line", { class: "even", x1: middle, y1: box.top, x2: middle, y2: box.bottom }),
    svgElement("text", {
      class: isRight ? "note end" : "note",
      x: middle + (isRight ? -5 : 5),
      y: box.bottom - 8,
    }, guide.text),
  );
}

function drawSeries(svg, series, x, y) {
  const points = series.points.map(([a, b]) => [x(a).toFixed(1), y(b).toFixed(1)]);
  const d = "M" + points.map((point) => point.join(" ")).join("L");
  const kind = series.isGuide ? "even" : series.shape === "dash" ? "stroke dash" : "stroke";
  svg.append(svgElement("path", { class: `${kind} ${series.color}`, d }));
  if (!series.dots) return;
  for (const [cx, cy] of points) {
    svg.append(svgElement("circle", { class: `dot ${series.color}`, cx, cy, r: 3.4 }));
  }
}

function closest(stops, px, py) {
  let best = -1, least = Infinity;
  stops.forEach((stop, index) => {
    const distance = Math.hypot(stop.x - px, (stop.y - py) / 3);
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}
