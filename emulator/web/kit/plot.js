/**
 * What all charts share: they fill the width they have and are drawn anew when it changes; values
 * under the pointer, a finger or the arrow keys; a legend whose entries switch what is drawn.
 *
 *   plot(host, { label, draw, link })  -> { redraw, remove }
 *
 * `draw(svg, width)` puts shapes into `svg` (one unit is one pixel) and returns the scene:
 *   { height, count, stop(index), nearest(x, y), mark(stop) }
 * `count` is how many things one can point at; `stop` returns one, { x, y, title, lines }, or null,
 * with `lines` of { name, text, color }; `nearest` returns an index or -1, `mark` the shapes that
 * show a stop; `stride` is how many stops lie between one column and the next, if not 1.
 * Over time also: box, timeAt(x), indexAt(time), a stop's `time`, follow(stop or null).
 *
 *   timeLink(from, to)   joins charts over time: one cursor, one zoom
 *     .view, .full, .time       what is shown, all there is, where the cursor is (or null)
 *     .zoom(from, to), .reset(), .point(time), .extend(from, to), .subscribe(listener)
 *
 *   legend([{ name, color, shape, isOn, text }], onToggle)  -> element
 *   axes(svg, box, { x, y, formatX, formatY, titleX, titleY })
 */

import { announce, element, fill, svgElement } from "./dom.js";

const TOUCH_SLOP = 6;

// The cursor and the zoom that charts share

export function timeLink(from, to) {
  const listeners = new Set();
  const tell = (what) => listeners.forEach((listener) => listener(what));
  const link = { full: [from, to], view: [from, to], time: null };
  link.isZoomed = () => link.view[0] > link.full[0] || link.view[1] < link.full[1];
  link.zoom = (low, high) => {
    const [first, last] = link.full, least = (last - first) / 500;
    if (high - low < least) return;
    link.view = [Math.max(first, low), Math.min(last, high)];
    tell("view");
  };
  link.reset = () => link.zoom(...link.full);
  link.extend = (low, high) => {
    const wasZoomed = link.isZoomed();
    link.full = [low, high];
    if (!wasZoomed) link.view = [low, high];
    tell("view");
  };
  link.point = (time) => {
    if (time === link.time) return;
    link.time = time;
    tell("cursor");
  };
  link.subscribe = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return link;
}

// The text at the pointer

let tip = null;

export function showTip(title, lines, x, y) {
  if (tip === null) {
    tip = element("div", { class: "tip", "aria-hidden": "true" });
    document.body.append(tip);
  }
  fill(
    tip,
    title ? element("div", { class: "tip-title" }, title) : null,
    lines.map((line) => [
      element("span", { class: `swatch ${line.color ?? "none"}` }),
      element("span", {}, line.name),
      element("b", {}, line.text),
    ]),
  );
  tip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = x + 16 + width > innerWidth - 8 ? x - 16 - width : x + 16;
  tip.style.setProperty("left", `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`);
  tip.style.setProperty("top", `${Math.max(8, Math.min(y + 14, innerHeight - height - 8))}px`);
}

export function hideTip() {
  if (tip !== null) tip.hidden = true;
}

export function asSentence(stop) {
  const values = stop.lines.map((line) => `${line.name} ${line.text}`.trim());
  return [stop.title, ...values].filter(Boolean).join(", ");
}

// A chart

export function plot(host, { label, draw, link = null }) {
  const svg = svgElement("svg", {
    class: link ? "chart live zooms" : "chart live",
    role: "slider",
    tabindex: 0,
    "aria-label": label,
    "aria-valuemin": 0,
    "aria-orientation": "horizontal",
  });
  host.append(svg);
  const state = { svg, link, scene: null, index: -1, overlay: null, width: 0 };

  const redraw = () => {
    const width = Math.floor(host.clientWidth);
    state.width = width;
    if (!width) return;
    svg.replaceChildren();
    state.scene = draw(svg, width);
    svg.setAttribute("viewBox", `0 0 ${width} ${state.scene.height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", state.scene.height);
    svg.setAttribute("aria-valuemax", Math.max(0, state.scene.count - 1));
    state.overlay = svgElement("g", { class: "overlay" });
    svg.append(state.overlay);
    state.index = Math.min(state.index, state.scene.count - 1);
    describe(state, state.index < 0 ? 0 : state.index);
    if (link) follow(state);
  };
  const observer = new ResizeObserver(() => {
    if (Math.floor(host.clientWidth) !== state.width) redraw();
  });
  observer.observe(host);
  const unsubscribe = link?.subscribe((what) => what === "view" ? redraw() : follow(state));
  listen(state);
  redraw();
  return {
    redraw,
    remove() {
      observer.disconnect();
      unsubscribe?.();
      svg.remove();
    },
  };
}

function stopAt(state, index) {
  return index < 0 || index >= state.scene.count ? null : state.scene.stop(index);
}

function describe(state, index) {
  const stop = stopAt(state, index);
  if (!stop) return;
  state.svg.setAttribute("aria-valuenow", index);
  state.svg.setAttribute("aria-valuetext", asSentence(stop));
}

function mark(state, index) {
  const stop = stopAt(state, index);
  fill(state.overlay, stop ? state.scene.mark(stop) : null);
}

/** Shows the cursor of other charts over time. */
function follow(state) {
  const { scene, link } = state;
  if (scene === null) return;
  if (link.time === null) {
    state.index = -1;
    mark(state, -1);
    scene.follow?.(null);
    return;
  }
  const current = stopAt(state, state.index);
  if (!current || current.time !== link.time) state.index = scene.indexAt(link.time);
  mark(state, state.index);
  scene.follow?.(stopAt(state, state.index));
}

function select(state, index, { x, y }) {
  const stop = stopAt(state, index);
  if (!stop) return clear(state);
  state.index = index;
  mark(state, index);
  describe(state, index);
  if (state.link) state.link.point(stop.time);
  state.scene.follow?.(stop);
  showTip(stop.title, stop.lines, x, y);
}

function clear(state) {
  state.index = -1;
  mark(state, -1);
  state.scene.follow?.(null);
  state.link?.point(null);
  hideTip();
}

function place(state, event) {
  const box = state.svg.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function listen(state) {
  const { svg } = state;
  let start = null;
  const point = (event) => {
    const index = state.scene.nearest(...place(state, event));
    select(state, index, { x: event.clientX, y: event.clientY });
  };
  svg.addEventListener("pointerdown", (event) => {
    start = state.link && event.button === 0 ? place(state, event)[0] : null;
    point(event);
  });
  svg.addEventListener("pointermove", (event) => {
    const here = place(state, event)[0];
    if (start !== null && event.buttons && Math.abs(here - start) > TOUCH_SLOP) {
      if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
      brush(state, start, here);
    } else point(event);
  });
  svg.addEventListener("pointerup", (event) => {
    const here = place(state, event)[0];
    if (start !== null && Math.abs(here - start) > TOUCH_SLOP) zoomTo(state, start, here);
    start = null;
  });
  svg.addEventListener("pointercancel", () => start = null);
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") clear(state);
  });
  svg.addEventListener("dblclick", () => state.link?.reset());
  svg.addEventListener("blur", () => clear(state));
  svg.addEventListener("keydown", (event) => onKey(state, event));
}

function brush(state, start, here) {
  const { top, bottom, left, right } = state.scene.box;
  const within = (x) => Math.max(left, Math.min(right, x));
  const [low, high] = [within(Math.min(start, here)), within(Math.max(start, here))];
  hideTip();
  fill(
    state.overlay,
    svgElement("rect", {
      class: "brush",
      x: low,
      y: top,
      width: high - low,
      height: bottom - top,
    }),
  );
}

function zoomTo(state, start, here) {
  const times = [state.scene.timeAt(start), state.scene.timeAt(here)].sort((a, b) => a - b);
  clear(state);
  state.link.zoom(...times);
}

const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

function onKey(state, event) {
  const { scene, svg } = state, last = scene.count - 1;
  let index = null;
  if (event.key in STEPS) {
    const step = STEPS[event.key] * (scene.stride ?? 1), next = state.index + step;
    index = state.index < 0 ? 0 : next < 0 || next > last ? state.index : next;
  } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const step = event.key === "ArrowUp" ? -1 : 1;
    index = Math.max(0, Math.min(last, Math.max(state.index, 0) + step));
  } else if (event.key === "Home") index = 0;
  else if (event.key === "End") index = last;
  else if (event.key === "Escape") clear(state);
  else if (state.link && "+-0".includes(event.key)) zoomByKey(state, event.key);
  else return;
  event.preventDefault();
  if (index === null) return;
  const box = svg.getBoundingClientRect(), stop = stopAt(state, index);
  if (!stop) return;
  select(state, index, { x: box.left + stop.x, y: box.top + stop.y });
  announce(asSentence(stop));
}

function zoomByKey(state, key) {
  const { link } = state;
  if (key === "0") return link.reset();
  const [from, to] = link.view, middle = link.time ?? (from + to) / 2;
  const factor = key === "+" ? 0.5 : 2;
  link.zoom(middle - (middle - from) * factor, middle + (to - middle) * factor);
}

// Axes and legend

export function axes(svg, box, { x, y, formatX, formatY, titleX = "", titleY = "" }) {
  const { left, top, right, bottom } = box;
  for (const value of y?.ticks ?? []) {
    const height = y(value);
    svg.append(
      svgElement("line", { class: "grid", x1: left, y1: height, x2: right, y2: height }),
      svgElement("text", { class: "tick end", x: left - 6, y: height + 3.5 }, formatY(value)),
    );
  }
  svg.append(svgElement("line", { class: "axis", x1: left, y1: bottom, x2: right, y2: bottom }));
  for (const value of x?.ticks ?? []) {
    const middle = x(value), isLast = middle > right - 14, isFirst = middle < 12;
    svg.append(
      svgElement("line", { class: "axis", x1: middle, y1: bottom, x2: middle, y2: bottom + 4 }),
      svgElement("text", {
        class: isLast ? "tick end" : isFirst ? "tick" : "tick mid",
        x: isLast ? Math.min(middle + 12, right + 8) : isFirst ? 0 : middle,
        y: bottom + 17,
      }, formatX(value)),
    );
  }
  if (titleY) svg.append(svgElement("text", { class: "title", x: left, y: top - 9 }, titleY));
  if (titleX) {
    svg.append(
      svgElement("text", { class: "title mid", x: (left + right) / 2, y: bottom + 33 }, titleX),
    );
  }
}

/** Swatches with names; those with `onToggle` are switches, and may carry a value. */
export function legend(entries, onToggle = null) {
  const children = entries.map((entry, index) => {
    const inside = [
      element("span", { class: `swatch ${entry.color} ${entry.shape ?? ""}` }),
      element("span", {}, entry.name),
      element("b", { class: "value" }),
    ];
    if (!onToggle) return element("span", { class: "entry" }, inside);
    return element("button", {
      type: "button",
      class: "entry",
      "aria-pressed": String(entry.isOn !== false),
      on: { click: () => onToggle(index) },
    }, inside);
  });
  return element("div", { class: "legend", role: "group", "aria-label": "Legend" }, children);
}
