/**
 * Tables that are sorted by a tap on a head and filtered by a text.
 *
 *   enhanceTable(table)            a table of the page: heads become buttons. A cell sorts by its
 *                                  data-value if it has one, else by its text; data-sort="none" on
 *                                  a head leaves it alone; rows of class "group" end the sorting.
 *   filterBox(tables, { label, onFilter })   -> element with a field that hides rows without its
 *                                  words, in one table or in a list of them
 *   dataTable({ label, columns, rows, empty })  -> { node, update(rows) }   built from data:
 *     columns: [{ name: "key", text: (row) => row.key, value: (row) => row.units, isNumber,
 *                 cell: (row) => node }]        `cell` where a text is not enough
 *   markScrolling(root)            says of every .scroll whether there is more to the side
 */

import { announce, element, fill } from "./dom.js";

export function enhanceTable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.dataset.sort === "none" || !head.textContent.trim()) return;
    const button = element("button", { type: "button", class: "sorter" }, [...head.childNodes]);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const isDown = head.getAttribute("aria-sort") === "descending" ||
        (!head.hasAttribute("aria-sort") && !head.classList.contains("n"));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "ascending" : "descending");
      sortRows(table.tBodies[0], column, isDown ? 1 : -1);
      announce(`sorted by ${head.textContent}, ${isDown ? "ascending" : "descending"}`);
    });
  });
}

function sortRows(body, column, sign) {
  const keyed = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
  keyed.sort(([a], [b]) => sign * compare(a, b));
  body.append(...keyed.map(([, row]) => row));
}

function sortKey(cell) {
  const text = cell?.dataset.value ?? cell?.textContent ?? "", number = Number(text);
  return text.trim() !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
}

function compare(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

export function filterBox(tables, { label = "Filter", onFilter = () => {} } = {}) {
  const told = element("span", { class: "told", "aria-live": "polite" });
  const field = element("input", { type: "search", placeholder: label, "aria-label": label });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [tables].flat().flatMap((table) => [...table.tBodies[0].rows]);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown++;
    }
    told.textContent = words.length ? `${shown} of ${rows.length}` : "";
    onFilter(words.length > 0);
  });
  return element("div", { class: "filter" }, field, told);
}

export function dataTable({ label, columns, rows, empty = "Nothing yet." }) {
  const head = element(
    "tr",
    {},
    columns.map((column) =>
      element("th", { scope: "col", class: column.isNumber ? "n" : null }, column.name)
    ),
  );
  const body = element("tbody");
  const table = element("table", { "aria-label": label }, element("thead", {}, head), body);
  const none = element("p", { class: "quiet" }, empty);
  const scroll = element("div", {
    class: "scroll",
    tabindex: 0,
    role: "region",
    "aria-label": label,
  }, table);
  const node = element("div", {}, none, scroll);
  enhanceTable(table);
  const update = (next) => {
    none.hidden = next.length > 0;
    scroll.hidden = next.length === 0;
    fill(body, next.map((row) => rowOf(row, columns)));
    const sorted = [...head.cells].findIndex((cell) => cell.hasAttribute("aria-sort"));
    if (sorted >= 0) {
      sortRows(body, sorted, head.cells[sorted].getAttribute("aria-sort") === "ascending" ? 1 : -1);
    }
  };
  update(rows);
  return { node, update };
}

function rowOf(row, columns) {
  return element(
    "tr",
    {},
    columns.map((column) =>
      element(
        "td",
        {
          class: column.isNumber ? "n" : null,
          data: column.value ? { value: String(column.value(row)) } : {},
        },
        column.cell ? column.cell(row) : column.text(row),
      )
    ),
  );
}

export function markScrolling(root = document) {
  const mark = (node) => {
    const rest = node.scrollWidth - node.clientWidth - node.scrollLeft;
    node.classList.toggle("more-right", rest > 2);
    node.classList.toggle("more-left", node.scrollLeft > 2);
  };
  const observer = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
  for (const node of root.querySelectorAll(".scroll")) {
    node.addEventListener("scroll", () => mark(node), { passive: true });
    observer.observe(node);
  }
}
