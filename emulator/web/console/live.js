/**
 * The live view of a table or global index: partitions as a heat map, consumed and refused units,
 * the hottest keys, what throttled and why, splits as they happen, and money.
 */

import { announce, element, fill } from "../kit/dom.js";
import { bytes, count, duration, NONE, percent } from "../kit/format.js";
import { heatMap } from "../kit/heat_map.js";
import { timeLink } from "../kit/plot.js";
import { dataTable } from "../kit/table.js";
import { timeSeries } from "../kit/time_series.js";
import { choice, heading, placed } from "./parts.js";
import { resourceHistory, STEP_SECONDS, STEPS } from "./history.js";
import { indexesOf } from "./keys.js";
import { address } from "./selection.js";
import { dollarsExactly } from "./spending.js";
import { reasonWords, remedyFor } from "./throttles.js";

const HISTORIES = 32;
const SHOWN_EVENTS = 60;
const SHOWN_KEYS = 12;
const histories = new Map();

function historyOf(name, limits) {
  if (!histories.has(name)) histories.set(name, resourceHistory(limits));
  const history = histories.get(name);
  histories.delete(name);
  histories.set(name, history);
  while (histories.size > HISTORIES) histories.delete(histories.keys().next().value);
  return history;
}

export function liveView(host, context) {
  const { namespace, table, index } = context.selected, { description } = context;
  const history = historyOf(JSON.stringify([namespace, table, index]), context.partitionUnits);
  const view = { axis: "both", keys: "recent", history, wall: null };
  const tiles = element("dl", { class: "tiles" });
  const heatHost = element("figure", { class: "plot" });
  const readHost = element("figure", { class: "plot" });
  const writeHost = element("figure", { class: "plot" });
  const tables = makeTables();
  const waiting = element("p", { class: "quiet", role: "status" }, "Listening…");

  fill(
    host,
    heading(table, index ? `index ${index}` : "live", resourceLinks(description, index)),
    waiting,
    tiles,
    element("section", { class: "panel" }, [
      element("div", { class: "row" }, [
        element("h2", {}, "Partitions"),
        choice("Load of", ["both", "read", "write"], view.axis, (axis) => {
          view.axis = axis;
          drawHeat();
        }),
      ]),
      element(
        "p",
        { class: "quiet" },
        loadText(context.partitionUnits),
      ),
      heatHost,
    ]),
    element("section", { class: "panel charts" }, readHost, writeHost),
    element("section", { class: "panel" }, [
      element("div", { class: "row" }, [
        element("h2", {}, "Hottest keys"),
        choice("Over", ["recent", "all"], view.keys, (keys) => {
          view.keys = keys;
          context.feed.askNow();
        }, { recent: "last two minutes", all: "since the start" }),
      ]),
      tables.keys.node,
    ]),
    element("section", { class: "panel" }, [
      element("h2", {}, "Throttles"),
      tables.reasons.node,
      element("h3", {}, "Latest"),
      tables.throttled.node,
    ]),
    element("section", { class: "panel" }, element("h2", {}, "Splits and other events"), [
      tables.events.node,
    ]),
  );

  const link = timeLink(0, STEPS * STEP_SECONDS);
  const format = { link, formatTime: wallClock, formatTick: wallClock };
  const refusedWord = () => context.state.capacity === "enforce" ? "refused" : "would be refused";
  let charts = null;
  let backlogChart = null;

  function drawHeat() {
    if (charts) charts.heat.update(view.history.heat(view.axis));
  }

  function makeCharts() {
    const { start, step, ...values } = view.history.series();
    charts = {
      heat: heatMap(heatHost, {
        label: `Partitions of ${table} over the last five minutes`,
        ...format,
        ...view.history.heat(view.axis),
        details: (position, at) => cellLines(view.history.cell(position, at)),
      }),
      read: timeSeries(readHost, {
        ...format,
        label: "Read units",
        title: "read units per second",
        start,
        step,
        series: unitSeries(values, "read", refusedWord()),
      }),
      write: timeSeries(writeHost, {
        ...format,
        label: "Write units",
        title: "write units per second",
        start,
        step,
        series: unitSeries(values, "write", refusedWord()),
      }),
    };
    if (index && values.backlog.some((units) => units !== null)) {
      const backlogHost = element("figure", { class: "plot wide" });
      writeHost.after(backlogHost);
      backlogChart = timeSeries(backlogHost, {
        ...format,
        label: "Backlog",
        title: "write units that wait for the index",
        start,
        step,
        series: [{ name: "backlog", values: values.backlog, color: "amber", shape: "area" }],
      });
    }
  }

  function drawCharts() {
    link.extend(...view.history.window());
    if (charts === null) {
      makeCharts();
      return;
    }
    const { start, step, ...values } = view.history.series();
    drawHeat();
    charts.read.update({ start, step, series: unitSeries(values, "read", refusedWord()) });
    charts.write.update({ start, step, series: unitSeries(values, "write", refusedWord()) });
    backlogChart?.update({
      start,
      step,
      series: [{ name: "backlog", values: values.backlog, color: "amber", shape: "area" }],
    });
  }

  return {
    watch: () => ({ namespace, table, index, keys: view.keys }),
    update(answer, events) {
      const watched = answer.watched;
      if (!watched || watched.table !== table || watched.index !== index) return;
      waiting.hidden = true;
      if (watched.error) {
        waiting.hidden = false;
        fill(waiting, watched.error);
        return;
      }
      const own = events.filter((event) => event.table === table && isOfResource(event, index));
      view.history.add(watched, own, answer.now, Date.now() / 1000);
      drawCharts();
      showTiles(tiles, watched, view.history, {
        spent: context.pace.of(namespace, table),
        refusedWord: refusedWord(),
      });
      tables.keys.update(keyRows(watched.keys).slice(0, SHOWN_KEYS));
      tables.reasons.update(reasonRows(context.pace.rows(), namespace, table));
      const newest = [...own].reverse();
      const refused = newest.filter((event) => event.kind === "Throttled");
      tables.throttled.update(refused.slice(0, SHOWN_EVENTS));
      const others = newest.filter((event) => event.kind !== "Throttled");
      tables.events.update(others.slice(0, SHOWN_EVENTS));
      const split = answer.events.find((event) => event.kind === "Split" && event.table === table);
      if (split) announce(`partition ${split.partition_id} was split`);
    },
    remove() {
      if (charts) Object.values(charts).forEach((chart) => chart.remove());
      backlogChart?.remove();
    },
  };
}

function loadText([read, write]) {
  const units = `${count(read)} read or ${count(write)} write units a second`;
  return `“Full” is what one partition carries: ${units}.`;
}

function isOfResource(event, index) {
  if (event.kind !== "Throttled") return (event.index ?? null) === index;
  return index === null || event.reasons.some((reason) => reason.index === index);
}

function wallClock(seconds) {
  const date = new Date(seconds * 1000), two = (number) => String(number).padStart(2, "0");
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

function unitSeries(values, axis, name) {
  const refused = axis === "read" ? values.refusedRead : values.refusedWrite;
  return [
    { name: "consumed", values: values[axis], color: "blue", shape: "area" },
    { name, values: refused.map((value) => value || null), color: "red", shape: "stack" },
  ];
}

function cellLines(cell) {
  if (cell === null) return [];
  const lines = [
    { name: "consumed a second", text: `${count(cell.read)} read, ${count(cell.write)} write` },
    {
      name: "refused a second",
      text: `${count(cell.refusedRead)} read, ${count(cell.refusedWrite)} write`,
    },
    {
      name: "tokens left",
      text: `${count(cell.readTokens)} read, ${count(cell.writeTokens)} write`,
    },
    { name: "holds", text: `${count(cell.items)} items, ${bytes(cell.bytes)}` },
  ];
  if (cell.waiting) {
    lines.push({ name: "waits for it", text: `${count(cell.waiting)} write units` });
  }
  return lines;
}

function resourceLinks(description, index) {
  const global = indexesOf(description).filter((one) => one.kind === "global");
  if (!global.length) return [];
  const link = (name, label) =>
    element("a", {
      class: "chip",
      href: address({ view: "live", index: name }),
      "aria-current": name === index ? "true" : null,
    }, label);
  return [link(null, "table"), global.map((one) => link(one.name, one.name))];
}

// Tiles

function showTiles(host, watched, history, { spent, refusedWord }) {
  const { read, write, refusedRead, refusedWrite } = history.series();
  const last = (values) => values.findLast((value) => value !== null) ?? 0;
  const refused = last(refusedRead) + last(refusedWrite);
  const tokens = (name) => Math.min(...watched.partitions.map((partition) => partition[name]));
  const entries = [
    ["read units a second", count(last(read))],
    ["write units a second", count(last(write))],
    [`${refusedWord} a second`, count(refused), refused > 0 ? "m-bad" : ""],
    ["partitions", String(watched.partitions.length)],
    [
      "least tokens, read / write",
      `${count(tokens("read_tokens"))} / ${count(tokens("write_tokens"))}`,
    ],
    ["cost so far", dollarsExactly(spent.usd)],
    ["a month at this pace", spent.month === null ? NONE : dollarsExactly(spent.month)],
  ];
  if (watched.backlog) {
    const { units, is_closed: isClosed, oldest_wait: behind, closes_in: closes } = watched.backlog;
    const closing = closes === null ? "" : `, closes in ${duration(closes)}`;
    const text = units ? `${count(units)}, ${duration(behind)} behind${closing}` : "0";
    entries.push(["backlog", isClosed ? `${text}: closed` : text, isClosed ? "m-bad" : ""]);
  }
  fill(host, entries.map(([name, text, cls]) => tile(name, text, cls)));
}

function tile(name, text, cls = "") {
  return element("div", { class: "tile" }, [
    element("dt", {}, name),
    element("dd", { class: cls || null }, text),
  ]);
}

// Tables

function makeTables() {
  return {
    keys: dataTable({
      label: "Hottest partition keys",
      rows: [],
      empty: "No key was read or written during this time.",
      columns: [
        { name: "partition key", cell: (row) => placed(row.key.join(" · ")) },
        { name: "weight", isNumber: true, text: (row) => count(row.accessed), value: byWeight },
        { name: "share", isNumber: true, text: (row) => percent(row.share), value: byShare },
        { name: "throttled", isNumber: true, text: (row) => count(row.throttled) },
        { name: "", cell: (row) => shareBar(row.share) },
      ],
    }),
    reasons: dataTable({
      label: "Throttles by reason",
      rows: [],
      empty: "Nothing throttled.",
      columns: [
        { name: "reason", cell: (row) => element("code", {}, row.reason) },
        { name: "of", text: (row) => row.resource },
        { name: "times", isNumber: true, text: (row) => count(row.times), value: byTimes },
        { name: "meaning", text: (row) => row.words },
        { name: "what helps", text: (row) => row.remedy },
      ],
    }),
    throttled: dataTable({
      label: "The last throttles",
      rows: [],
      empty: "None while this page was open.",
      columns: [
        { name: "time", text: (row) => wallClock(row.time) },
        { name: "operation", text: (row) => row.operation },
        { name: "key", cell: (row) => placed((row.key ?? []).join(" · ")) },
        { name: "units", isNumber: true, text: (row) => count(row.units) },
        {
          name: "reason",
          cell: (row) =>
            row.reasons.map(({ reason }) => element("div", { title: reason }, reasonWords(reason))),
        },
      ],
    }),
    events: dataTable({
      label: "Splits and other events",
      rows: [],
      empty: "No partition has split while this page was open.",
      columns: [
        { name: "time", text: (row) => wallClock(row.time) },
        { name: "event", text: eventText },
      ],
    }),
  };
}

function shareBar(share) {
  const filled = element("span", { style: { width: `${(share * 100).toFixed(1)}%` } });
  return element("span", { class: "bar", "aria-hidden": "true" }, filled);
}

const byWeight = (row) => row.accessed;
const byShare = (row) => row.share;
const byTimes = (row) => row.times;

function keyRows(keys) {
  const total = keys.reduce((sum, key) => sum + key.accessed, 0);
  return keys.map((key) => ({ ...key, share: total ? key.accessed / total : 0 }));
}

function reasonRows(spending, namespace, table) {
  return spending
    .filter((row) => row.namespace === namespace && row.table === table)
    .flatMap((row) =>
      Object.entries(row.throttles).map(([reason, times]) => ({
        reason,
        times,
        resource: row.index ?? "table",
        words: reasonWords(reason),
        remedy: remedyFor(reason),
      }))
    );
}

function eventText(event) {
  if (event.kind === "Split") {
    const children = event.children.map((child) => `P${child}`).join(" and ");
    return `partition P${event.partition_id} was split into ${children}, for ${event.cause}`;
  }
  if (event.kind === "SplitRefused") {
    return `partition P${event.partition_id} is hot and was not split: ${event.cause}`;
  }
  if (event.kind === "Scaled") {
    return `auto scaling changed ${event.axis.toLowerCase()} from ${event.before} to ${event.after}`;
  }
  if (event.kind === "IndexClosed") {
    return `the index closed with ${count(event.backlog)} units waiting: writes are refused`;
  }
  return event.kind;
}
