/**
 * Bars from left to right, one row for each thing, names above them; and intervals: a dot with
 * what it may be.
 *
 *   bars(host, {
 *     label: "Cost of a month",
 *     rows: [{ name: "by hour", parts: [{ name: "writes", value: 12, color: "blue" }],
 *              text: "$12", isStrong: true, isBest: true }],
 *     format: dollars, most: null, zero: 0,     // `most` fixes the right end
 *     isBeside: false,                          // names at the left of the bars, not above
 *     scale: "linear",                          // or "ratio": equal steps for equal ratios, from `low`
 *     guides: [{ value: 1, text: "this load" }],
 *   }) -> { update(options), redraw(), remove() }
 *
 *   intervals(host, { rows: [{ name, low, value, high, text, color, isBest, rangeName }],
 *     most: 1, format })                        without `value` only the range is drawn
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

/** Where things lie: names above the bars or beside them, texts on a line of their own if need be. */
function layout(state, width, drawRow) {
  const { rows, format } = state;
  const texts = rows.map((row) => row.text ?? format(total(row)));
  const widths = (list) => Math.max(0, ...list.map((text) => text.length * TEXT_WIDTH));
  const names = rows.map((row) => row.name);
  if (drawRow === drawInterval) {
    const isTight = rows.some((row, index) =>
      (row.name.length + texts[index].length + (row.isBest ? 8 : 0)) * TEXT_WIDTH > width
    );
    return { texts, left: 7, right: width - 7, row: isTight ? ROW + 15 : ROW, isTight, bar: 24 };
  }
  const left = state.isBeside ? Math.min(width * 0.42, widths(names) + 8) : 0;
  const right = Math.max(left + 40, width - Math.max(40, widths(texts) + 14));
  return { texts, left, right, row: state.isBeside ? 23 : ROW, bar: state.isBeside ? 3 : 18 };
}

function draw(svg, width, state, drawRow) {
  const { rows, format } = state, place = layout(state, width, drawRow);
  const most = state.most ?? Math.max(...rows.map(total), ...state.guides.map((g) => g.value), 0);
  const top = state.guides.length ? 18 : 4;
  const x = state.scale === "ratio"
    ? ratio(state.low, most || 1, place.left, place.right)
    : linear(0, most || 1, place.left, place.right);
  const height = top + rows.length * place.row;
  for (const guide of state.guides) drawGuide(svg, guide, { x, top, height, right: place.right });
  rows.forEach((row, index) => {
    const y = top + index * place.row;
    const room = state.isBeside ? place.left : width - (row.isBest ? 60 : 0);
    drawName(svg, row, y, state.isBeside ? place.left - 8 : null, room);
    drawRow(svg, row, { ...place, x, y, text: place.texts[index] });
  });
  return {
    height: height + 2,
    count: rows.length,
    stop: (index) => ({
      x: Math.min(place.right, x(total(rows[index])) / 2),
      y: top + (index + 0.6) * place.row,
      top: top + index * place.row,
      title: rows[index].name,
      lines: rows[index].lines ?? lines(rows[index], format),
    }),
    nearest: (_, py) => {
      const index = Math.floor((py - top) / place.row);
      return index < 0 || index >= rows.length ? -1 : index;
    },
    mark: (stop) =>
      svgElement("rect", {
        class: "row-mark",
        x: -4,
        y: stop.top,
        width: width + 8,
        height: place.row - 2,
        rx: 4,
      }),
  };
}

function drawGuide(svg, guide, { x, top, height, right }) {
  const middle = x(guide.value);
  svg.append(
    svgElement("line", { class: "level", x1: middle, y1: top, x2: middle, y2: height }),
    svgElement("text", { class: "title mid", x: clamp(middle, 30, right), y: 11 }, guide.text),
  );
}

/** A name that would leave its place loses its middle; the text at the pointer has all of it. */
function shortened(name, width) {
  const most = Math.max(8, Math.floor(width / TEXT_WIDTH));
  if (name.length <= most) return name;
  const head = Math.ceil((most - 1) / 3);
  return `${name.slice(0, head)}…${name.slice(name.length - (most - 1 - head))}`;
}

function drawName(svg, row, y, right, width) {
  const kind = row.isStrong === false ? "legend-text" : "strong";
  const where = right === null ? { class: kind, x: 0 } : { class: `${kind} end`, x: right };
  const name = svgElement(
    "text",
    { ...where, y: y + (right === null ? 12 : 14) },
    shortened(row.name, width),
  );
  if (row.isBest) name.append(svgElement("tspan", { class: "best", dx: 8 }, "✓ best"));
  svg.append(name);
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

function lines(row, format) {
  if (!row.parts) {
    const range = `${format(row.low)} to ${format(row.high)}`;
    const value = { name: row.valueName ?? "", text: format(row.value ?? 0), color: row.color };
    const whole = { name: row.rangeName ?? "95 % interval", text: range };
    return row.value === undefined ? [{ ...whole, color: row.color }] : [value, whole];
  }
  const parts = row.parts.map((part) => ({
    name: part.name,
    text: format(part.value),
    color: part.color,
  }));
  return parts.length > 1 ? [...parts, { name: "together", text: format(total(row)) }] : parts;
}

function drawBar(svg, row, { x, y, text, left, bar }) {
  let sum = 0;
  for (const part of row.parts) {
    const start = sum ? x(sum) : left, end = x(sum + part.value);
    sum += part.value;
    if (part.value <= 0) continue;
    svg.append(svgElement("rect", {
      class: `fill ${part.color}`,
      x: start,
      y: y + bar,
      width: Math.max(1, end - start),
      height: 13,
      rx: 1.5,
    }));
  }
  const end = sum ? x(sum) : left;
  svg.append(svgElement("text", { class: "note", x: end + 7, y: y + bar + 11 }, text));
}

function drawInterval(svg, row, { x, y, text, left, right, isTight }) {
  const middle = y + (isTight ? 40 : 24);
  const at = isTight
    ? { class: "note", x: 0, y: y + 27 }
    : { class: "note end", x: right, y: y + 12 };
  svg.append(
    svgElement("line", { class: "grid", x1: left, y1: middle, x2: right, y2: middle }),
    svgElement("line", {
      class: `whisker ${row.color}`,
      x1: x(row.low),
      y1: middle,
      x2: x(row.high),
      y2: middle,
    }),
    svgElement("text", at, text),
  );
  if (row.value === undefined) return;
  const dot = { class: `dot ${row.color}`, cx: x(row.value), cy: middle, r: 5.5 };
  svg.append(svgElement("circle", dot));
}
