/**
 * The report of a test session comes alive: charts are drawn, tables sort, and one field filters all
 * of them. The element `data` has { charts }: for the id of a figure what it shows, as bars take it.
 */

import { bars } from "../kit/bars.js";
import { embeddedData } from "../kit/dom.js";
import { openTargets } from "../kit/folding.js";
import { count } from "../kit/format.js";
import { enhanceTable, filterBox, markScrolling } from "../kit/table.js";

const { charts } = embeddedData();
document.documentElement.classList.add("js");

for (const figure of document.querySelectorAll("figure[data-chart]")) {
  bars(figure.querySelector(".picture"), { format: count, ...charts[figure.id] });
}

const tables = [...document.querySelectorAll("table.sortable")];
tables.forEach(enhanceTable);
document.querySelector("nav .in").append(
  filterBox(tables, { label: "Filter all tables", onFilter: showCounts }),
);
markScrolling();
openTargets();

/** Says at each section how many of its rows are left. */
function showCounts(isFiltered) {
  for (const table of tables) {
    const rows = [...table.tBodies[0].rows], left = rows.filter((row) => !row.hidden).length;
    const badge = table.closest(".section").querySelector(".badge");
    badge.textContent = isFiltered ? `${left} of ${rows.length}` : String(rows.length);
  }
}
