/**
 * All tables at a glance: size, capacity, what they consume, what throttled, what they cost.
 */

import { element, fill } from "../kit/dom.js";
import { bytes, count, NONE } from "../kit/format.js";
import { dataTable } from "../kit/table.js";
import { capacityText, indexesOf } from "./keys.js";
import { heading } from "./parts.js";
import { address } from "./selection.js";
import { dollarsExactly } from "./spending.js";

export function overview(host, context) {
  const totals = element("dl", { class: "tiles" });
  const table = dataTable({ label: "Tables", rows: [], empty: "", columns: columns() });
  const none = element("section", { class: "panel" }, howToStart());
  const panel = element("section", { class: "panel" }, table.node);
  fill(host, heading("Tables", "all namespaces"), totals, none, panel);
  show();

  function show() {
    const rows = context.state.namespaces.flatMap(({ namespace, tables }) =>
      tables.map((description) => ({
        namespace,
        description,
        table: description.TableName,
        spent: context.pace.of(namespace, description.TableName),
      }))
    );
    none.hidden = rows.length > 0;
    panel.hidden = rows.length === 0;
    table.update(rows);
    const all = context.pace.total();
    const throttled = Object.values(all.throttles).reduce((sum, times) => sum + times, 0);
    fill(totals, [
      tile("read units", count(all.readUnits)),
      tile("write units", count(all.writeUnits)),
      tile(context.state.capacity === "enforce" ? "throttled" : "would throttle", count(throttled)),
      tile("cost so far", dollarsExactly(all.usd)),
      tile("a month at this pace", all.month === null ? NONE : dollarsExactly(all.month)),
    ]);
  }

  return { watch: () => ({}), update: show, remove() {} };
}

function tile(name, text) {
  return element("div", { class: "tile" }, element("dt", {}, name), element("dd", {}, text));
}

function columns() {
  const throttles = (row) => Object.values(row.spent.throttles).reduce((sum, one) => sum + one, 0);
  const link = (row) => {
    const target = { view: "live", namespace: row.namespace, table: row.table };
    return element("a", { href: address(target) }, row.table);
  };
  return [
    { name: "table", cell: link, value: (row) => row.table },
    { name: "namespace", text: (row) => row.namespace },
    { name: "items", isNumber: true, text: (row) => count(row.description.ItemCount) },
    {
      name: "size",
      isNumber: true,
      text: (row) => bytes(row.description.TableSizeBytes),
      value: (row) => row.description.TableSizeBytes,
    },
    { name: "indexes", isNumber: true, text: (row) => String(indexesOf(row.description).length) },
    { name: "capacity", text: (row) => capacityText(row.description) },
    {
      name: "read units",
      isNumber: true,
      text: (row) => count(row.spent.readUnits),
      value: (row) => row.spent.readUnits,
    },
    {
      name: "write units",
      isNumber: true,
      text: (row) => count(row.spent.writeUnits),
      value: (row) => row.spent.writeUnits,
    },
    { name: "throttled", isNumber: true, text: (row) => count(throttles(row)), value: throttles },
    {
      name: "cost so far",
      isNumber: true,
      text: (row) => dollarsExactly(row.spent.usd),
      value: (row) => row.spent.usd,
    },
  ];
}

function howToStart() {
  const example = [
    "aws dynamodb create-table --table-name orders \\",
    "  --attribute-definitions AttributeName=pk,AttributeType=S \\",
    "  --key-schema AttributeName=pk,KeyType=HASH \\",
    `  --billing-mode PAY_PER_REQUEST --endpoint-url ${location.origin}`,
  ].join("\n");
  return [
    element("p", {}, "There is no table yet. Point a client at this address and create one:"),
    element("pre", {}, example),
  ];
}
