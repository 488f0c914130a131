/**
 * What a table is: keys, indexes, sizes, capacity, stream, expiry; and a form that changes how it
 * is paid for.
 */

import { element, fill } from "../kit/dom.js";
import { bytes, count } from "../kit/format.js";
import { dataTable } from "../kit/table.js";
import { capacityText, indexesOf, isOnDemand, keyOf, keyText } from "./keys.js";
import { button, field, heading, select } from "./parts.js";
import { address, choose } from "./selection.js";
import { call } from "./server.js";

export function tableView(host, context) {
  const { description } = context;
  const facts = [
    ["status", description.TableStatus],
    ["key", keyText(keyOf(description))],
    ["items", count(description.ItemCount)],
    ["size", bytes(description.TableSizeBytes)],
    ["capacity", capacityText(description)],
    ["class", description.TableClassSummary?.TableClass ?? "STANDARD"],
    ["stream", description.StreamSpecification?.StreamViewType ?? "none"],
    ["created", new Date(description.CreationDateTime * 1000).toLocaleString()],
    ["ARN", description.TableArn],
  ];
  fill(
    host,
    heading(description.TableName, "table"),
    element("section", { class: "panel" }, [
      element(
        "dl",
        { class: "facts" },
        facts.map(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]),
      ),
    ]),
    element("section", { class: "panel" }, element("h2", {}, "Indexes"), indexTable(context)),
    context.isReadOnly ? null : changes(context),
  );
  return { isOfState: true, watch: () => ({}), update() {}, remove() {} };
}

function indexTable({ description }) {
  const live = (index) =>
    index.kind === "global"
      ? element("a", { href: address({ view: "live", index: index.name }) }, index.name)
      : element("span", { class: "value" }, index.name);
  const projection = ({ Projection: { ProjectionType: type, NonKeyAttributes: names = [] } }) =>
    type === "INCLUDE" ? `keys and ${names.join(", ")}` : type === "ALL" ? "all" : "keys only";
  return dataTable({
    label: "Indexes",
    rows: indexesOf(description),
    empty: "The table has no indexes.",
    columns: [
      { name: "index", cell: live, value: (index) => index.name },
      { name: "kind", text: (index) => index.kind },
      { name: "key", text: (index) => keyText(keyOf(description, index.name)) },
      { name: "projection", text: projection },
      { name: "status", text: (index) => index.IndexStatus ?? "" },
      { name: "items", isNumber: true, text: (index) => count(index.ItemCount) },
      {
        name: "size",
        isNumber: true,
        text: (index) => bytes(index.IndexSizeBytes),
        value: (index) => index.IndexSizeBytes,
      },
      {
        name: "capacity",
        text: (index) => index.kind === "global" ? capacityText(description, index) : "the table's",
      },
    ],
  }).node;
}

function changes(context) {
  const { description, selected } = context;
  const number = (value) => element("input", { type: "number", min: 1, value, class: "short" });
  const { ReadCapacityUnits: reads, WriteCapacityUnits: writes } =
    description.ProvisionedThroughput;
  const read = number(reads || 5), write = number(writes || 5);
  const units = element(
    "div",
    { class: "row start" },
    field("Read units", read),
    field("Write units", write),
  );
  const modes = [["PAY_PER_REQUEST", "on demand"], ["PROVISIONED", "provisioned"]];
  const before = isOnDemand(description) ? "PAY_PER_REQUEST" : "PROVISIONED";
  const mode = select(
    "Capacity mode",
    modes,
    before,
    (name) => units.hidden = name !== "PROVISIONED",
  );
  units.hidden = before !== "PROVISIONED";

  const act = async (operation, request, onDone) => {
    const { error } = await call(selected.namespace, operation, request);
    if (error) context.notify([element("b", {}, error.code), " ", error.message], "failed");
    else onDone();
  };
  const throughput = () => ({
    ReadCapacityUnits: Number(read.value),
    WriteCapacityUnits: Number(write.value),
  });
  const change = () => {
    const request = { TableName: description.TableName, BillingMode: mode.control.value };
    if (mode.control.value === "PROVISIONED") {
      request.ProvisionedThroughput = throughput();
      const updates = indexesOf(description).filter((index) => index.kind === "global").map((
        index,
      ) => ({
        Update: { IndexName: index.name, ProvisionedThroughput: throughput() },
      }));
      if (before === "PAY_PER_REQUEST" && updates.length) {
        request.GlobalSecondaryIndexUpdates = updates;
      }
    }
    act("UpdateTable", request, async () => {
      await context.refresh();
      context.notify("The table was changed.");
    });
  };
  const erase = button("Delete the table", () => {
    if (!confirm(`Delete the table ${description.TableName} and all of its items?`)) return;
    act("DeleteTable", { TableName: description.TableName }, () => {
      choose({ view: "overview", namespace: null, table: null });
      context.refresh();
    });
  }, { isDangerous: true });
  return element("section", { class: "panel" }, [
    element("h2", {}, "Change"),
    element("div", { class: "row start" }, mode.node, units, button("Change capacity", change)),
    element("div", { class: "row start" }, erase),
  ]);
}
