/**
 * The request log: every request with its receipt, newest first, filtered and paused at will.
 *
 *   const log = requestLog();  log.add(answer)      kept as long as the page is open
 *   requestsView(host, context)                     context.log is such a log
 */

import { element, fill } from "../kit/dom.js";
import { count, duration, NONE, significant } from "../kit/format.js";
import { button, field, heading, placed, select } from "./parts.js";
import { address } from "./selection.js";
import { reasonWords } from "./throttles.js";

const KEPT = 2000;
const SHOWN = 300;
const SHOWS = [
  ["all", "all requests"],
  ["refused", "refused"],
  ["throttled", "throttled"],
  ["retried", "retries"],
];
const HEADS = [
  "time",
  "operation",
  "table",
  "key",
  "read",
  "write",
  "items",
  "attempt",
  "took",
  "result",
];
const NUMBERS = new Set(["read", "write", "attempt", "took"]);

export function requestLog() {
  const log = { lines: [], leftOut: 0 };
  return {
    add(answer) {
      log.leftOut += answer.left_out;
      log.lines.push(...answer.requests);
      if (log.lines.length > KEPT) log.lines.splice(0, log.lines.length - KEPT);
    },
    clear() {
      log.lines = [];
      log.leftOut = 0;
    },
    get lines() {
      return log.lines;
    },
    get leftOut() {
      return log.leftOut;
    },
  };
}

export function requestsView(host, context) {
  const view = { isPaused: false, lines: [...context.log.lines], words: "", shows: "all", top: 0 };
  const told = element("p", { class: "quiet", "aria-live": "off" });
  const body = element("tbody");
  const words = element("input", {
    type: "search",
    placeholder: "operation, table, key, error…",
    on: {
      input: () => {
        view.words = words.value.toLowerCase();
        show();
      },
    },
  });
  const shows = select("Show", SHOWS, "all", (name) => {
    view.shows = name;
    show();
  });
  const pause = button("Pause", () => {
    view.isPaused = !view.isPaused;
    pause.textContent = view.isPaused ? "Resume" : "Pause";
    pause.setAttribute("aria-pressed", String(view.isPaused));
    if (!view.isPaused) view.lines = [...context.log.lines];
    show();
  });
  const clear = button("Clear", () => {
    context.log.clear();
    view.lines = [];
    show();
  });
  const head = element(
    "tr",
    {},
    HEADS.map((name) =>
      element("th", { scope: "col", class: NUMBERS.has(name) ? "n" : null }, name)
    ),
  );
  fill(
    host,
    heading("Requests", "log"),
    element("section", { class: "panel" }, [
      element("div", { class: "row start" }, [field("Filter", words), shows.node, pause, clear]),
      told,
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Requests" }, [
        element("table", { class: "log" }, element("thead", {}, head), body),
      ]),
    ]),
  );
  show();

  function show() {
    const matching = view.lines.filter((line) => isShown(line, view)).reverse();
    fill(body, matching.slice(0, SHOWN).map((line) => lineRow(line, context)));
    const waiting = context.log.lines.length ? newer(context.log.lines, view.lines) : 0;
    const parts = [`${count(matching.length)} of ${count(view.lines.length)} requests`];
    if (matching.length > SHOWN) parts.push(`the newest ${SHOWN} are shown`);
    if (context.log.leftOut) parts.push(`${count(context.log.leftOut)} more came too fast to list`);
    if (view.isPaused) parts.push(`paused, ${count(waiting)} new`);
    fill(told, parts.join("; "));
  }

  return {
    watch: () => ({}),
    update(answer) {
      if (!view.isPaused && answer.requests.length) view.lines = [...context.log.lines];
      if (answer.requests.length) show();
    },
    remove() {},
  };
}

function newer(all, shown) {
  const last = shown.at(-1)?.number ?? 0;
  return all.filter((line) => line.number > last).length;
}

function isShown(line, { shows, words }) {
  if (shows === "refused" && !line.error) return false;
  if (shows === "throttled" && !line.reasons.length) return false;
  if (shows === "retried" && !(line.attempt > 1)) return false;
  if (!words) return true;
  const reasons = line.reasons.map((one) => one.reason);
  const texts = [line.operation, ...line.tables, ...(line.key ?? []), line.error, line.message];
  const whole = [...texts, ...reasons, line.namespace].filter(Boolean).join(" ").toLowerCase();
  return words.split(/\s+/).every((word) => whole.includes(word));
}

function lineRow(line, context) {
  const number = (text) => element("td", { class: "n" }, text);
  const units = (value) => value ? significant(value) : "";
  const items = line.evaluated > line.returned && line.read_units
    ? `${count(line.returned)} of ${count(line.evaluated)}`
    : line.returned || "";
  return element("tr", { class: line.error ? "refused" : null }, [
    element("td", {}, timeOf(line.time)),
    element("td", {}, line.is_own ? `${line.operation} (console)` : line.operation),
    element("td", {}, tableLinks(line, context)),
    element("td", {}, placed((line.key ?? []).join(" · "))),
    number(units(line.read_units)),
    number(units(line.write_units)),
    element("td", {}, items),
    number(line.attempt ?? ""),
    number(line.seconds === null ? NONE : duration(line.seconds)),
    element("td", { class: "result" }, resultOf(line)),
  ]);
}

function tableLinks(line, context) {
  return line.tables.map((table) => {
    const holders = context.namespacesOf(table);
    const namespace = holders.includes(line.namespace) ? line.namespace : holders[0];
    if (!namespace) return element("span", { class: "value" }, table, " ");
    return element("a", { href: address({ view: "live", namespace, table }) }, table, " ");
  });
}

function resultOf(line) {
  const parts = [];
  if (line.error) {
    parts.push(element("div", {}, element("b", { class: "m-bad" }, line.error)));
    if (line.message) parts.push(element("div", { class: "quiet" }, line.message));
  }
  for (const { reason } of line.reasons) {
    const would = line.error ? "" : "would have been throttled: ";
    parts.push(element("div", { class: "m-tight" }, `${would}${reasonWords(reason)} (${reason})`));
  }
  for (const { table, namespaces } of line.elsewhere ?? []) {
    const text = `Table ${table} is in ${namespaces.join(", ")}, not in ${line.namespace}.`;
    parts.push(element("div", { class: "m-tight" }, text));
  }
  return parts.length ? parts : "ok";
}

function timeOf(seconds) {
  const date = new Date(seconds * 1000),
    pad = (value, digits) => String(value).padStart(digits, "0");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((one) => pad(one, 2));
  return `${clock.join(":")}.${pad(date.getMilliseconds(), 3)}`;
}
