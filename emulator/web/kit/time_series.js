/**
 * Values over time, as lines, areas and areas on top of each other.
 *
 *   timeSeries(host, {
 *     label: "Write throughput",            // for those who do not see it
 *     step: 60, start: 0,                   // seconds of one value, and where the first begins
 *     series: [{ name: "consumed", values: [...], color: "blue", shape: "area", isOn: true }],
 *     link: timeLink(0, 10_800),            // cursor and zoom shared with other charts
 *     title: "units per second", format: count, formatTime: clock, formatTick: duration,
 *     ceiling: null, note: "", height: 220, hasLegend: true,
 *   }) -> { update(options), redraw(), remove() }
 *
 * Colours: blue, teal, amber, violet, red, grey, ink, d1 to d6 (for designs). Shapes: "line",
 * "dash", "area", "stack" (an area on top of the series before it). A value may be null.
 */

import { fill, svgElement } from "./dom.js";
import { clock, count, duration, NONE } from "./format.js";
import { axes, legend, plot, timeLink } from "./plot.js";
import { fromZero, overTime } from "./scales.js";

const DEFAULTS = {
  start: 0,
  title: "",
  format: count,
  formatTime: clock,
  formatTick: duration,
  ceiling: null,
  note: "",
  height: 220,
  hasLegend: true,
};

export function timeSeries(host, options) {
  const state = { ...DEFAULTS, ...options };
  state.series = state.series.map((series) => ({ isOn: true, ...series }));
  state.link ??= timeLink(state.start, endOf(state));
  const keys = document.createElement("div");
  host.append(keys);
  const chart = plot(host, {
    label: state.label,
    link: state.link,
    draw: (svg, width) => draw(svg, width, state, keys),
  });
  const toggle = (index) => {
    state.series[index].isOn = !state.series[index].isOn;
    showLegend();
    chart.redraw();
  };
  const showLegend = () => {
    if (state.hasLegend) fill(keys, legend(state.series, toggle));
  };
  showLegend();
  return {
    ...chart,
    update(changes) {
      const isOn = new Map(state.series.map((series) => [series.name, series.isOn]));
      Object.assign(state, changes);
      state.series = state.series.map((series) => ({
        ...series,
        isOn: isOn.get(series.name) ?? series.isOn ?? true,
      }));
      showLegend();
      chart.redraw();
    },
    remove() {
      chart.remove();
      keys.remove();
    },
  };
}

function endOf({ start, step, series }) {
  return start + step * Math.max(0, ...series.map((one) => one.values.length));
}

/** Lists what is drawn, with the floor and the roof of each series in each step. */
function layers(state) {
  let below = null;
  return state.series.filter((series) => series.isOn).map((series) => {
    const isStacked = series.shape === "stack" && below !== null;
    const floor = isStacked ? below : null;
    const roof = series.values.map((value, index) =>
      value === null ? null : value + (floor?.[index] ?? 0)
    );
    if (series.shape === "area" || series.shape === "stack") below = roof;
    return { series, floor, roof };
  });
}

function draw(svg, width, state, keys) {
  const { link, step, start, format } = state;
  const isCrowded = state.note && width < (state.title.length + state.note.length) * 6.5 + 70;
  const box = {
    left: 46,
    top: (state.title ? 24 : 10) + (isCrowded ? 15 : 0),
    right: width - 12,
    bottom: state.height - 24,
  };
  const [from, to] = link.view;
  const drawn = layers(state);
  const first = Math.max(0, Math.floor((from - start) / step));
  const last = Math.ceil((to - start) / step);
  const seen = drawn.flatMap((layer) => layer.roof.slice(first, last)).filter((v) => v !== null);
  const highest = Math.max(0, ...seen);
  const y = fromZero(
    Math.min(highest, state.ceiling ?? highest) || highest,
    box.bottom,
    box.top,
    state.height < 140 ? 2 : 4,
  );
  const x = overTime(from, to, box.left, box.right, Math.max(2, Math.floor(width / 90)));
  axes(svg, box, { x, y, formatX: state.formatTick, formatY: format, titleY: state.title });
  if (state.note && highest > y.high) {
    svg.append(
      svgElement("text", {
        class: "note end",
        x: box.right,
        y: box.top - (isCrowded ? 24 : 9),
      }, state.note),
    );
  }
  for (const layer of drawn) drawLayer(svg, layer, { x, y, box, first, last, start, step });
  const length = Math.max(0, ...drawn.map((layer) => layer.roof.length));
  const stops = Math.max(0, Math.min(last, length) - first);
  const nearest = (time) => {
    const index = Math.floor((time - start) / step) - first;
    return index < -1 || index > stops ? -1 : Math.max(0, Math.min(stops - 1, index));
  };
  return {
    height: state.height,
    box,
    count: stops,
    stop: (index) => stopOf(state, drawn, first + index, { x, y, box }),
    timeAt: (position) => x.invert(Math.max(box.left, Math.min(box.right, position))),
    indexAt: nearest,
    nearest: (px) => px < box.left - 8 || px > box.right + 8 ? -1 : nearest(x.invert(px)),
    mark: (stop) =>
      [
        svgElement("line", { class: "cross", x1: stop.x, y1: box.top, x2: stop.x, y2: box.bottom }),
        stop.points.map(([height, color]) =>
          height < box.top
            ? null
            : svgElement("circle", { class: `dot ${color}`, cx: stop.x, cy: height, r: 3.5 })
        ),
      ].flat(2).filter(Boolean),
    follow: (stop) => showValues(keys, state, stop),
  };
}

function stopOf(state, drawn, index, { x, y, box }) {
  const begins = state.start + index * state.step, time = begins + state.step / 2;
  const said = ({ series }) =>
    series.values[index] === null ? NONE : (series.format ?? state.format)(series.values[index]);
  return {
    time,
    index,
    x: Math.max(box.left, Math.min(box.right, x(time))),
    y: (box.top + box.bottom) / 2,
    title: state.formatTime(begins),
    lines: drawn.map((layer) => ({
      name: layer.series.name,
      text: said(layer),
      color: layer.series.color,
    })),
    points: drawn.filter(({ roof }) => roof[index] !== null)
      .map(({ series, roof }) => [y(roof[index]), series.color]),
  };
}

function showValues(keys, state, stop) {
  const values = keys.querySelectorAll(".value");
  state.series.forEach((series, position) => {
    if (!values[position]) return;
    const value = stop && series.isOn ? series.values[stop.index] : null;
    values[position].textContent = value === null || value === undefined
      ? ""
      : (series.format ?? state.format)(value);
  });
}

function drawLayer(svg, { series, floor, roof }, { x, y, box, first, last, start, step }) {
  const height = (value) => Math.max(box.top, Math.min(box.bottom, y(value)));
  const wide = (index) =>
    Math.max(box.left, Math.min(box.right, x(start + index * step))).toFixed(1);
  const isArea = series.shape === "area" || series.shape === "stack";
  for (const [begin, end] of stretches(roof, first, last)) {
    const line = stairs(roof, begin, end, wide, height);
    if (isArea) {
      const base = floor
        ? stairs(floor, begin, end, wide, height).reverse()
        : [[wide(end), box.bottom], [wide(begin), box.bottom]];
      const outline = [...line, ...base].map((point) => point.join(" ")).join("L");
      svg.append(svgElement("path", { class: `soft ${series.color}`, d: `M${outline}Z` }));
    }
    const path = "M" + line.map((point) => point.join(" ")).join("L");
    const kind = series.shape === "dash" ? "stroke dash" : "stroke";
    svg.append(svgElement("path", { class: `${kind} ${series.color}`, d: path }));
  }
}

function stretches(values, first, last) {
  const found = [];
  let begin = null;
  for (let index = first; index <= Math.min(last, values.length); index++) {
    const isValue = index < Math.min(last, values.length) && values[index] !== null;
    if (isValue && begin === null) begin = index;
    if (!isValue && begin !== null) {
      found.push([begin, index]);
      begin = null;
    }
  }
  return found;
}

function stairs(values, begin, end, wide, height) {
  const line = [];
  for (let index = begin; index < end; index++) {
    const level = height(values[index] ?? 0).toFixed(1);
    if (line.length && line.at(-1)[1] === level) line.at(-1)[0] = wide(index + 1);
    else line.push([wide(index), level], [wide(index + 1), level]);
  }
  return line;
}
