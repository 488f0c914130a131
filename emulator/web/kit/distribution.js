/**
 * How values are spread, one histogram under the other on a common axis.
 *
 *   distribution(host, {
 *     label: "Calls throttled, by world",
 *     rows: [{ name: "by hour", values: [0.55, 0.56], color: "d1", text: "73 worlds" }],
 *     format: percent, title: "calls throttled", noun: "worlds",
 *     guides: [{ value: 0.001, text: "limit" }], most: null,
 *   }) -> { update(options), redraw(), remove() }
 */

import { svgElement } from "./dom.js";
import { count } from "./format.js";
import { axes, plot } from "./plot.js";
import { fromZero } from "./scales.js";

const ROW = 74;
const BAR = 40;

export function distribution(host, options) {
  const state = { format: count, title: "", noun: "values", guides: [], most: null, ...options };
  const chart = plot(host, { label: state.label, draw: (svg, width) => draw(svg, width, state) });
  return {
    ...chart,
    update(changes) {
      Object.assign(state, changes);
      chart.redraw();
    },
  };
}

function draw(svg, width, state) {
  const { rows, format } = state, right = width - 14;
  const most = state.most ?? Math.max(...rows.flatMap((row) => row.values), 0);
  const x = fromZero(most, 4, right, Math.max(2, Math.floor(width / 90)));
  const bottom = rows.length * ROW, bins = Math.max(10, Math.min(48, Math.floor(width / 12)));
  const box = { left: 4, top: 0, right, bottom };
  axes(svg, box, { x, formatX: format, titleX: state.title });
  const stops = [];
  rows.forEach((row, index) => {
    const base = (index + 1) * ROW - 6;
    const counts = histogram(row.values, x.high, bins), highest = Math.max(1, ...counts);
    svg.append(
      svgElement("line", { class: "grid", x1: 4, y1: base, x2: right, y2: base }),
      svgElement("text", { class: "strong", x: 4, y: base - BAR - 12 }, row.name),
      svgElement("text", { class: "note end", x: right, y: base - BAR - 12 }, row.text ?? ""),
    );
    counts.forEach((number, bin) => {
      if (!number) return;
      const left = x(bin / bins * x.high), wide = x((bin + 1) / bins * x.high) - left;
      const tall = Math.max(2, number / highest * BAR);
      svg.append(svgElement("rect", {
        class: `fill ${row.color}`,
        x: left,
        y: base - tall,
        width: Math.max(1, wide - 1),
        height: tall,
      }));
      stops.push(stopOf(state, row, { bin, bins, number, high: x.high }, {
        index,
        x: left + wide / 2,
        left,
        wide,
        y: base - tall / 2,
        base,
      }));
    });
  });
  return {
    height: bottom + (state.title ? 38 : 24),
    count: stops.length,
    stop: (index) => stops[index],
    nearest: (px, py) => closest(stops, px, Math.floor(py / ROW)),
    mark: (stop) =>
      svgElement("rect", {
        class: "picked",
        x: stop.left - 1,
        y: stop.base - BAR - 2,
        width: stop.wide + 1,
        height: BAR + 3,
      }),
  };
}

function histogram(values, high, bins) {
  const counts = Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.floor(value / high * bins))]++;
  return counts;
}

function stopOf({ format, noun }, row, { bin, bins, number, high }, place) {
  const inside = row.values.filter((value) =>
    Math.min(bins - 1, Math.floor(value / high * bins)) === bin
  );
  const low = format(Math.min(...inside)), top = format(Math.max(...inside));
  return {
    ...place,
    title: row.name,
    lines: [{
      name: low === top ? low : `${low} to ${top}`,
      text: `${number} of ${row.values.length} ${noun}`,
      color: row.color,
    }],
  };
}

function closest(stops, px, row) {
  let best = -1;
  stops.forEach((stop, index) => {
    if (stop.index !== row) return;
    if (best < 0 || Math.abs(stop.x - px) < Math.abs(stops[best].x - px)) best = index;
  });
  return best;
}
