/**
 * Time from left to right, partitions from top to bottom in key order. A partition that is split
 * has the rows of those that came from it, so that a split shows as a row that divides.
 *
 *   heatMap(host, {
 *     label: "Partitions of orders", start: 0,
 *     heat: {
 *       step_seconds: 60,
 *       partitions: [{ partition_id: 0, low: 0, high: 0.5, born: 0, died: null, name: "P0" }],
 *       load: [[0.2, null], ...],        // [time step][partition]; 1 is full, null: not there
 *       throttled: [[0, null], ...],     // refused demand on the same scale
 *     },
 *     splits: [{ time, partition_id, children: [1, 2] }],
 *     link: timeLink(0, 10_800), formatTime: clock, formatTick: duration,
 *     shares: [0.7, 0.3],                  // of the demand, by partition; shown where nothing split
 *     details: (position, step) => [{ name: "tokens", text: "120" }],   // more lines, if any
 *   }) -> { update(options), redraw(), remove() }
 */

import { element, svgElement } from "./dom.js";
import { clock, duration, percent } from "./format.js";
import { axes, plot, timeLink } from "./plot.js";
import { overTime } from "./scales.js";

const LEVELS = 7;
const MOST_ROWS = 96;
const LABELLED = 24;
const NARROW = 560;
let hatches = 0;

export function heatMap(host, options) {
  const state = {
    start: 0,
    splits: [],
    formatTime: clock,
    formatTick: duration,
    details: () => [],
    ...options,
  };
  state.hatch = `hatch-${hatches++}`;
  const duringAll = state.heat.load.length * state.heat.step_seconds;
  state.link ??= timeLink(state.start, state.start + duringAll);
  const chart = plot(host, {
    label: state.label,
    link: state.link,
    draw: (svg, width) => draw(svg, width, state),
  });
  host.append(key());
  return {
    ...chart,
    update(changes) {
      Object.assign(state, changes);
      chart.redraw();
    },
  };
}

/** Gives every last descendant a row, in key order, and ancestors the rows of theirs. */
export function rowLayout(partitions, splits) {
  const position = new Map(partitions.map((one, index) => [one.partition_id, index]));
  const children = new Map(splits.map((split) => [split.partition_id, split.children]));
  const inherited = new Set(splits.flatMap((split) => split.children));
  const first = partitions.map(() => 0), height = partitions.map(() => 0);
  const inOrder = (ids) =>
    ids.filter((id) => position.has(id)).sort((a, b) =>
      partitions[position.get(a)].low - partitions[position.get(b)].low || a - b
    );
  const put = (id, row) => {
    let next = row;
    for (const child of inOrder(children.get(id) ?? [])) next = put(child, next);
    next = Math.max(next, row + 1);
    first[position.get(id)] = row;
    height[position.get(id)] = next - row;
    return next;
  };
  let rows = 0;
  const roots = partitions.map((one) => one.partition_id).filter((id) => !inherited.has(id));
  for (const root of inOrder(roots)) rows = put(root, rows);
  return { first, height, rows };
}

/** The class of a cell: `h0` to `h7` for load, `t0` to `t2` where some was refused. */
export function shade(load, refused) {
  if (load === null || load === undefined) return "";
  if (refused > 1e-9) return refused < 0.25 ? "t0" : refused < 1 ? "t1" : "t2";
  return `h${Math.min(LEVELS, Math.ceil(load * LEVELS - 1e-9))}`;
}

function draw(svg, width, state) {
  const { heat, splits, link } = state;
  const layout = rowLayout(heat.partitions, splits.filter((split) => split.children.length));
  const rows = Math.max(1, Math.min(layout.rows, MOST_ROWS));
  const rowHeight = Math.min(26, Math.max(4, 300 / rows));
  const left = rows === layout.rows && rows <= LABELLED ? (width < NARROW ? 34 : 46) : 14;
  const hasShares = state.shares && width >= NARROW && rows <= LABELLED &&
    rows === heat.partitions.length;
  const right = width - (hasShares ? 66 : 12);
  const box = { left, top: 22, right, bottom: 22 + rows * rowHeight };
  const [from, to] = link.view;
  const x = overTime(from, to, box.left, box.right, Math.max(2, Math.floor(width / 90)));
  const grid = collect(state, layout, rows, Math.floor((box.right - box.left) / 3), from, to);
  svg.append(hatching(state.hatch));
  drawCells(svg, grid, box, rowHeight, state.hatch);
  if (rows === layout.rows) {
    drawEdges(svg, grid, box, rowHeight);
    drawLabels(svg, heat.partitions, layout, box, rowHeight, rows);
  }
  if (hasShares) drawShares(svg, state.shares, layout, box, rowHeight);
  drawSplits(svg, state, layout, x, box);
  const title = rows === layout.rows
    ? "partitions, in key order"
    : `${layout.rows} partitions; each row shows the hottest of a few`;
  axes(svg, box, { x, formatX: state.formatTick, titleY: title });
  const columns = grid.columns;
  const columnAt = (time) =>
    Math.max(0, Math.min(columns - 1, Math.floor((time - from) / (to - from) * columns)));
  return {
    height: box.bottom + 26,
    box,
    count: columns * rows,
    stride: rows,
    stop: (index) => stopOf(state, grid, box, rowHeight, index),
    timeAt: (position) => x.invert(Math.max(box.left, Math.min(box.right, position))),
    indexAt: (time) => columnAt(time) * rows,
    nearest: (px, py) => {
      if (px < box.left || px > box.right || py < box.top || py >= box.bottom) return -1;
      return columnAt(x.invert(px)) * rows + Math.floor((py - box.top) / rowHeight);
    },
    mark: (stop) => [
      svgElement("line", { class: "cross", x1: stop.x, y1: box.top, x2: stop.x, y2: box.bottom }),
      svgElement("rect", {
        class: "picked",
        x: stop.left,
        y: stop.top,
        width: Math.max(2, stop.wide),
        height: rowHeight,
      }),
    ],
  };
}

/** Gathers cells: in each row and column the hottest of what lies there. */
function collect(state, layout, rows, most, from, to) {
  const { heat, start } = state, step = heat.step_seconds;
  const first = Math.max(0, Math.floor((from - start) / step));
  const last = Math.min(heat.load.length, Math.ceil((to - start) / step));
  const columns = Math.max(1, Math.min(last - first, most, 240));
  const empty = () => Array.from({ length: rows }, () => Array(columns).fill(null));
  const cells = empty();
  for (let index = first; index < last; index++) {
    const column = Math.min(columns - 1, Math.floor((index - first) * columns / (last - first)));
    heat.load[index].forEach((load, position) => {
      if (load === null || load === undefined || position >= layout.first.length) return;
      const refused = heat.throttled[index][position] ?? 0;
      const low = Math.floor(layout.first[position] * rows / layout.rows);
      const high = Math.floor(
        (layout.first[position] + layout.height[position] - 1) * rows / layout.rows,
      );
      for (let row = low; row <= high; row++) {
        const before = cells[row][column];
        if (!before || load + refused >= before.load + before.refused) {
          cells[row][column] = { load, refused, position, index };
        }
      }
    });
  }
  return { cells, columns, first, last, rows };
}

function hatching(id) {
  return svgElement(
    "defs",
    {},
    svgElement(
      "pattern",
      { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svgElement("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 5 }),
    ),
  );
}

function drawCells(svg, { cells, columns }, box, rowHeight, hatch) {
  const paths = new Map(), wide = (box.right - box.left) / columns;
  cells.forEach((row, number) => {
    const top = box.top + number * rowHeight;
    for (
      const [begin, end, cls] of runs(row.map((cell) => cell ? shade(cell.load, cell.refused) : ""))
    ) {
      if (!cls) continue;
      const left = (box.left + begin * wide).toFixed(1), length = ((end - begin) * wide).toFixed(1);
      const path = `M${left} ${top.toFixed(1)}h${length}v${rowHeight.toFixed(1)}h-${length}z`;
      paths.set(cls, (paths.get(cls) ?? "") + path);
    }
  });
  for (const [cls, d] of [...paths].sort()) {
    svg.append(svgElement("path", { d, class: cls, "shape-rendering": "crispEdges" }));
    if (cls.startsWith("t")) svg.append(svgElement("path", { d, fill: `url(#${hatch})` }));
  }
}

function runs(values) {
  const found = [];
  for (let index = 0; index < values.length; index++) {
    if (found.length && found.at(-1)[2] === values[index]) found.at(-1)[1] = index + 1;
    else found.push([index, index + 1, values[index]]);
  }
  return found;
}

function drawEdges(svg, { cells, columns }, box, rowHeight) {
  const wide = (box.right - box.left) / columns;
  let path = "";
  for (let row = 1; row < cells.length; row++) {
    const apart = cells[row].map((cell, column) =>
      cell?.position !== cells[row - 1][column]?.position
    );
    for (const [begin, end, isApart] of runs(apart)) {
      if (!isApart) continue;
      const left = (box.left + begin * wide).toFixed(1), length = ((end - begin) * wide).toFixed(1);
      path += `M${left} ${(box.top + row * rowHeight).toFixed(1)}h${length}`;
    }
  }
  if (path) svg.append(svgElement("path", { class: "edge", d: path }));
}

function drawLabels(svg, partitions, layout, box, rowHeight, rows) {
  if (rows > LABELLED) return;
  partitions.forEach((partition, position) => {
    if (layout.height[position] !== 1) return;
    const y = box.top + (layout.first[position] + 0.5) * rowHeight + 4;
    const name = partition.name ?? `P${partition.partition_id}`;
    svg.append(svgElement("text", { class: "tick end", x: box.left - 7, y }, name));
  });
}

function drawShares(svg, shares, layout, box, rowHeight) {
  const text = (cls, x, y, said) => svgElement("text", { class: cls, x, y }, said);
  svg.append(text("title end", box.right + 60, box.top - 9, "of demand"));
  shares.forEach((share, position) => {
    const y = box.top + (layout.first[position] + 0.5) * rowHeight + 4;
    svg.append(text("tick end", box.right + 60, y, percent(share)));
  });
}

function drawSplits(svg, { heat, splits, link }, layout, x, box) {
  const position = new Map(heat.partitions.map((one, index) => [one.partition_id, index]));
  const rowHeight = (box.bottom - box.top) / layout.rows, [from, to] = link.view;
  for (const split of splits) {
    const born = split.children.filter((child) => position.has(child));
    if (!position.has(split.partition_id) || !born.length) continue;
    if (split.time < from || split.time > to) continue;
    const parent = position.get(split.partition_id), at = x(split.time);
    const top = box.top + layout.first[parent] * rowHeight;
    const lower = Math.max(...born.map((child) => layout.first[position.get(child)]));
    svg.append(
      svgElement("line", {
        class: "split",
        x1: at,
        y1: top,
        x2: at,
        y2: top + layout.height[parent] * rowHeight,
      }),
      svgElement("circle", { class: "splitdot", cx: at, cy: box.top + lower * rowHeight, r: 3.2 }),
    );
  }
}

function stopOf(state, { cells, columns, first, last, rows }, box, rowHeight, index) {
  const { heat, start } = state, column = Math.floor(index / rows), row = index % rows;
  const cell = cells[row][column];
  if (cell === null) return null;
  const step = heat.step_seconds, wide = (box.right - box.left) / columns;
  const partition = heat.partitions[cell.position];
  const lines = [{ name: "load", text: percent(cell.load), color: shade(cell.load, 0) }];
  if (cell.refused > 0) {
    lines.push({ name: "also refused", text: percent(cell.refused), color: "red" });
  }
  const name = partition.name ?? `partition ${partition.partition_id}`;
  return {
    time: start + (first + Math.floor(column * (last - first) / columns) + 0.5) * step,
    left: box.left + column * wide,
    top: box.top + row * rowHeight,
    wide,
    x: box.left + (column + 0.5) * wide,
    y: box.top + (row + 0.5) * rowHeight,
    title: `${state.formatTime(start + cell.index * step)}, ${name}`,
    lines: [...lines, ...state.details(cell.position, cell.index)],
  };
}

function key() {
  const box = (name) => element("span", { class: `cell ${name}` });
  const levels = Array.from({ length: LEVELS + 1 }, (_, level) => box(`h${level}`));
  return element("div", { class: "legend" }, [
    element("span", { class: "entry" }, "idle", element("span", { class: "ramp" }, levels), "full"),
    element(
      "span",
      { class: "entry" },
      "refused: a little",
      element("span", { class: "ramp" }, ["t0", "t1", "t2"].map(box)),
      "more than a partition carries",
    ),
    element("span", { class: "entry" }, element("span", { class: "split-sign" }), "split"),
  ]);
}
