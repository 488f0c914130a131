/**
 * The lab's report comes alive: pictures are drawn anew at the width they have, with values under
 * the pointer, one cursor and one zoom over time, legends that switch, tables that sort.
 *
 * The element `data` has { results, charts }: the comparison as the lab writes it, and for the id of
 * each figure what it shows (emulator/lab/report/pictures.py).
 */

import { bars, intervals } from "../kit/bars.js";
import { curve } from "../kit/curve.js";
import { distribution } from "../kit/distribution.js";
import { element, embeddedData, fill } from "../kit/dom.js";
import { placeExplanations } from "../kit/explain.js";
import { openTargets } from "../kit/folding.js";
import { count, dollars, duration, multiple, percent } from "../kit/format.js";
import { heatMap } from "../kit/heat_map.js";
import { timeLink } from "../kit/plot.js";
import { enhanceTable, filterBox, markScrolling } from "../kit/table.js";
import { timeSeries } from "../kit/time_series.js";
import { saveData, savePicture } from "./save.js";

const FORMATS = { count, dollars, duration, multiple, percent };
const { results, charts } = embeddedData();
const link = timeLink(0, results.duration_seconds);
const stills = new Map();

document.documentElement.classList.add("js");

// Pictures

const KINDS = {
  Bars: (host, picture) =>
    bars(host, {
      ...picture,
      format: FORMATS[picture.format],
      guides: (picture.guides ?? []).map(({ x, text }) => ({ value: x, text })),
    }),
  Intervals: (host, picture) => intervals(host, { ...picture, format: FORMATS[picture.format] }),
  Distribution: (host, picture) =>
    distribution(host, { ...picture, format: FORMATS[picture.format] }),
  Curve: (host, picture) =>
    curve(host, { ...picture, x: withFormat(picture.x), y: withFormat(picture.y) }),
  OverTime: overTime,
  Partitions: partitions,
};

function withFormat(axis) {
  return { ...axis, format: FORMATS[axis.format] };
}

/** Finds what stands at a path such as `designs/0/resources/1`. */
function at(path) {
  return path.split("/").reduce((value, step) => value[step], results);
}

function partitions(host, picture) {
  const { heat, splits, name } = at(picture.source);
  const label = `Load of the partitions of ${name} over time`;
  const shares = demandShares(heat);
  const details = (position) => [{ name: "share of all demand", text: percent(shares[position]) }];
  heatMap(host, { label, heat, splits, link, shares, details });
}

/** What was asked of each partition over the whole run, served or refused. */
function demandShares(heat) {
  const totals = heat.partitions.map((_, position) =>
    heat.load.reduce(
      (sum, loads, step) => sum + (loads[position] ?? 0) + (heat.throttled[step][position] ?? 0),
      0,
    )
  );
  const all = totals.reduce((sum, total) => sum + total, 0) || 1;
  return totals.map((total) => total / all);
}

function overTime(host, picture) {
  const options = (panel) => ({
    ...panel,
    label: panel.title,
    step: picture.step,
    link,
    format: FORMATS[panel.format],
    height: panel.height + 46,
    series: panel.series.map((series) => ({
      ...series,
      values: series.values ?? at(series.source),
    })),
  });
  if (!picture.isChoice) {
    for (const panel of picture.panels) {
      timeSeries(host.appendChild(element("div")), options(panel));
    }
    return;
  }
  const chart = timeSeries(host.appendChild(element("div")), options(picture.panels[0]));
  host.before(
    choice(picture.panels.map((panel) => panel.name), (index) => {
      chart.update(options(picture.panels[index]));
    }),
  );
}

function choice(names, onChoose) {
  const buttons = names.map((name, index) =>
    element("button", { type: "button", on: { click: () => choose(index) } }, name)
  );
  const mark = (chosen) =>
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", index === chosen));
  const choose = (index) => {
    mark(index);
    onChoose(index);
  };
  mark(0);
  return element("div", { class: "choice", role: "group", "aria-label": "What is shown" }, buttons);
}

/** A way back out of a zoom, at every picture over time. */
function resetButton() {
  const button = element("button", {
    type: "button",
    class: "action reset",
    on: { click: () => link.reset() },
  }, "Show the whole run");
  const update = () => button.hidden = !link.isZoomed();
  link.subscribe(update);
  update();
  return button;
}

function enliven(figure) {
  const picture = charts[figure.id], host = figure.querySelector(".picture");
  stills.set(figure, host.querySelector("svg"));
  fill(host);
  host.classList.add("plot");
  KINDS[picture.kind](host, picture);
  if (picture.kind === "OverTime" || picture.kind === "Partitions") host.before(resetButton());
}

// The page

function onSave(event) {
  const kind = event.target.dataset?.save;
  if (!kind) return;
  if (kind === "json") return saveData(results);
  const figure = event.target.closest("figure");
  savePicture(stills.get(figure), figure.id, kind);
}

for (const figure of document.querySelectorAll("figure[data-chart]")) enliven(figure);
for (const table of document.querySelectorAll("table.sortable")) {
  enhanceTable(table);
  if (table.dataset.filter) {
    table.closest(".scroll").before(filterBox(table, { label: table.dataset.filter }));
  }
}
placeExplanations();
markScrolling();
document.addEventListener("click", onSave);
openTargets();
