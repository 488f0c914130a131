/**
 * Bars from left to right, one row for each thing, names above them; and intervals: a dot with
 * what it may be.
 *
 *   bars(host, {
 *     label: "Cost of a month",
 *     rows: [{ name: "by hour", parts: [{ name: "writes", value: 12, color: "blue" }],
 *              text: "$12", isStrong: true, isBest: true }],
 *     format: dollars, most: null, zero: 0,     // `most` fixes the right end
 *     scale: "linear",                          // or "ratio": equal steps for equal ratios, from `low`
 *     guides: [{ value: 1, text: "this load" }],
 *   }) -> { update(options), redraw(), remove() }
 *
 *   intervals(host, { rows: [{ name, low, value, high, text, color, isBest }], most: 1, format })
 */

import { element, fill, svgElement } from "./dom.js";
import { count } from "./format.js";
import { legend, plot } from "./plot.js";
import { linear, ratio } from "./scales.js";

const ROW = 40;
const TEXT_WIDTH = 7;

export function bars(host, options) {
  return rowChart(
    host,
    { format: count, scale: "linear", low: 0.1, guides: [], ...options },
    drawBar,
  );
}

export function intervals(host, options) {
  const defaults = { format: count, scale: "linear", low: 0.1, guides: [], most: 1 };
  return rowChart(host, { ...defaults, ...options }, drawInterval);
}

function rowChart(host, options, drawRow) {
  const state = { ...options }, keys = element("div");
  const chart = plot(host, {
    label: state.label,
    draw: (svg, width) => draw(svg, width, state, drawRow),
  });
  const showLegend = () => {
    const named = new Map(
      state.rows.flatMap((row) => row.parts ?? []).filter((part) => part.value > 0)
        .map((part) => [part.name, part]),
    );
    fill(keys, named.size > 1 ? legend([...named.values()]) : null);
  };
  host.append(keys);
  showLegend();
  return {
    ...chart,
    update(changes) {
      Object.assign(state, changes);
      showLegend();
      chart.redraw();
    },
    remove() {
      chart.remove();
      keys.remove();
    },
  };
}

function total(row) {
  return row.parts ? row.parts.reduce((sum, part) => sum + part.value, 0) : row.high;
}

function draw(svg, width, state, drawRow) {
  const { rows, format } = state;
  const texts = rows.map((row) => row.text ?? format(total(row)));
  const room = Math.max(40, ...texts.map((text) => 14 + text.length * TEXT_WIDTH));
  const most = state.most ?? Math.max(...rows.map(total), ...state.guides.map((g) => g.value), 0);
  const top = state.guides.length ? 18 : 4,
    right = Math.max(60, width - (drawRow === drawBar ? room : 10));
  const x = state.scale === "ratio"
    ? ratio(state.low, most || 1, 0, right)
    : linear(0, most || 1, 0, right);
  const height = top + rows.length * ROW;
  for (const guide of state.guides) {
    svg.append(
      svgElement("line", {
        class: "level",
        x1: x(guide.value),
        y1: top,
        x2: x(guide.value),
        y2: height,
      }),
      svgElement(
        "text",
        { class: "title mid", x: clamp(x(guide.value), 30, right), y: 11 },
        guide.text,
      ),
    );
  }
  rows.forEach((row, index) => {
    const y = top + index * ROW,
      name = svgElement("text", {
        class: row.isStrong === false ? "legend-text" : "strong",
        x: 0,
        y: y + 12,
      }, row.name);
    if (row.isBest) name.append(svgElement("tspan", { class: "best", dx: 8 }, "✓ best"));
    svg.append(name);
    drawRow(svg, row, { x, y, text: texts[index], right });
  });
  return {
    height: height + 2,
    count: rows.length,
    stop: (index) => ({
      x: Math.min(right, x(total(rows[index])) / 2),
      y: top + index * ROW + 24,
      top: top + index * ROW,
      title: rows[index].name,
      lines: rows[index].lines ?? lines(rows[index], format),
    }),
    nearest: (_, py) => {
      const index = Math.floor((py - top) / ROW);
      return index < 0 || index >= rows.length ? -1 : index;
    },
    mark: (stop) =>
      svgElement("rect", {
        class: "row-mark",
        x: -4,
        y: stop.top,
        width: width + 8,
        height: ROW - 2,
        rx: 4,
      }),
  };
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

function lines(row, format) {
  if (!row.parts) {
    return [
      { name: "", text: format(row.value), color: row.color },
      { name: "95 % interval", text: `${format(row.low)} to ${format(row.high)}` },
    ];
  }
  const parts = row.parts.map((part) => ({
    name: part.name,
    text: format(part.value),
    color: part.color,
  }));
  return parts.length > 1 ? [...parts, { name: "together", text: format(total(row)) }] : parts;
}

function drawBar(svg, row, { x, y, text }) {
  let sum = 0;
  for (const part of row.parts) {
    const left = sum ? x(sum) : 0, right = x(sum + part.value);
    if (part.value > 0) {
      svg.append(svgElement("rect", {
        class: `fill ${part.color}`,
        x: left,
        y: y + 18,
        width: Math.max(1, right - left),
        height: 13,
        rx: 1.5,
      }));
    }
    sum += part.value;
  }
  svg.append(svgElement("text", { class: "note", x: (sum ? x(sum) : 0) + 7, y: y + 29 }, text));
}

function drawInterval(svg, row, { x, y, text, right }) {
  const middle = y + 24;
  svg.append(
    svgElement("line", { class: "grid", x1: 0, y1: middle, x2: right, y2: middle }),
    svgElement("line", {
      class: `whisker ${row.color}`,
      x1: x(row.low),
      y1: middle,
      x2: x(row.high),
      y2: middle,
    }),
    svgElement("circle", { class: `dot ${row.color}`, cx: x(row.value), cy: middle, r: 5.5 }),
    svgElement("text", { class: "note end", x: right, y: y + 12 }, text),
  );
}
