/**
 * The items of a table: browse, query and scan by choosing keys and conditions; the expression,
 * what it cost and what a filter threw away; the same call as code; put, edit and delete.
 */

import { announce, element, fill } from "../kit/dom.js";
import { count, significant } from "../kit/format.js";
import { dataTable } from "../kit/table.js";
import { boto3Sample, cliSample } from "./code_samples.js";
import { FILTER_OPERATORS, KEY_OPERATORS, readable, requestOf } from "./conditions.js";
import { openEditor } from "./item_editor.js";
import { indexesOf, keyOf } from "./keys.js";
import { button, checkbox, copyable, field, heading, message, placed, select } from "./parts.js";
import { call } from "./server.js";
import { shown, TYPES } from "./values.js";

const SCALARS = ["S", "N", "B", "BOOL", "NULL"];
const COLUMNS = 12;
const PAGE = 25;

export function itemsView(host, context) {
  const { description, selected } = context;
  const builder = makeBuilder(description, selected.index);
  const result = { pages: [], items: [], units: 0, evaluated: 0, next: null, call: null, runs: 0 };
  const said = message();
  const receipt = element("div", { class: "receipt", "aria-live": "polite" });
  const listing = element("div");
  const samples = element("div", { class: "samples" });
  const more = button("Next page", () => run({ isMore: true }));
  more.hidden = true;

  const runButton = button("Run", () => {}, { isMain: true });
  const form = element(
    "form",
    {
      class: "panel builder",
      on: {
        submit: (event) => {
          event.preventDefault();
          run();
        },
      },
    },
    builder.node,
    element("div", { class: "row start" }, runButton, newItemButton()),
  );
  runButton.type = "submit";
  fill(
    host,
    heading(description.TableName, "items"),
    form,
    said.node,
    receipt,
    element("section", { class: "panel results" }, listing, more),
    samples,
  );
  run();

  function newItemButton() {
    if (context.isReadOnly) return null;
    return button("New item", () => edit(null));
  }

  function edit(item) {
    openEditor({
      namespace: selected.namespace,
      description,
      item,
      isReadOnly: context.isReadOnly,
      onChanged: (done) => {
        run().then(() => said.show(`The item was ${done}.`));
        context.refresh();
      },
    });
  }

  async function run({ isMore = false } = {}) {
    const number = ++result.runs; // of two that are under way, the later one is shown
    said.clear();
    if (!isMore) {
      Object.assign(result, { items: [], units: 0, evaluated: 0, next: null });
      result.call = requestOf(builder.read());
    }
    const { operation, request } = result.call;
    const asked = isMore ? { ...request, ExclusiveStartKey: result.next } : request;
    showSamples(operation, asked);
    try {
      const { answer, error } = await call(selected.namespace, operation, asked);
      if (number !== result.runs) return;
      if (error) showError(error);
      else take(answer);
      show(operation, request);
    } catch (failure) {
      said.show(failure.message, "failed");
    }
  }

  function take(answer) {
    result.items.push(...answer.Items);
    result.units += answer.ConsumedCapacity?.CapacityUnits ?? 0;
    result.evaluated += answer.ScannedCount;
    result.next = answer.LastEvaluatedKey ?? null;
    announce(`${answer.Count} items`);
  }

  function showError({ code, message: text, elsewhere }) {
    const places = Object.entries(elsewhere).map(([table, namespaces]) =>
      element("div", {}, `Table ${table} is in ${namespaces.join(", ")}.`)
    );
    said.show([element("b", {}, code), " ", text, places], "failed");
  }

  function show(operation, request) {
    more.hidden = result.next === null;
    fill(receipt, receiptParts(operation, request, result));
    fill(listing, itemTable(description, result.items, edit).node);
  }

  function showSamples(operation, request) {
    const [key, region] = splitNamespace(selected.namespace);
    const access = { endpoint: location.origin, region, accessKey: key };
    fill(
      samples,
      element("details", { class: "panel" }, [
        element("summary", {}, "The same call in boto3 and the AWS CLI"),
        copyable("boto3", boto3Sample(operation, request, access)),
        copyable("AWS CLI", cliSample(operation, request, access)),
      ]),
    );
  }

  return { watch: () => ({}), update() {}, remove() {} };
}

/** What every key sees is reached with any key. */
function splitNamespace(namespace) {
  const at = namespace.lastIndexOf("/");
  const key = namespace.slice(0, at);
  return [key === "*" ? "any" : key, namespace.slice(at + 1)];
}

// What it cost

function receiptParts(operation, request, { items, units, evaluated, next }) {
  const thrown = evaluated - items.length;
  const parts = [
    element("b", {}, operation),
    element("span", {}, `${count(items.length)} ${items.length === 1 ? "item" : "items"}`),
    element("span", { class: "units" }, `${significant(units)} read units`),
  ];
  if (request.FilterExpression) {
    const share = evaluated ? Math.round(100 * thrown / evaluated) : 0;
    const text = `the filter threw away ${count(thrown)} of ${
      count(evaluated)
    } items read (${share} %)`;
    parts.push(element("span", { class: thrown ? "m-tight" : null }, text));
  }
  parts.push(element("span", { class: "quiet" }, next ? "there is more" : "that is all"));
  const expressions = ["KeyConditionExpression", "FilterExpression", "ProjectionExpression"]
    .filter((name) => request[name])
    .map((name) =>
      element("div", { class: "expression" }, [
        element("span", { class: "quiet" }, `${name} `),
        element("code", {}, request[name]),
        element("span", { class: "quiet" }, ` ${readable(request[name], request)}`),
      ])
    );
  return [element("div", { class: "row start" }, parts), expressions];
}

// The list

function itemTable(description, items, onEdit) {
  const { partition, sort } = keyOf(description);
  const keys = [...partition, ...sort].map(({ name }) => name);
  const seen = new Set(items.flatMap((item) => Object.keys(item)));
  const others = [...seen].filter((name) => !keys.includes(name)).sort();
  const names = [...keys, ...others].slice(0, COLUMNS);
  const cellOf = (name) => (item) =>
    item[name] === undefined ? null : element("span", { class: "attribute" }, [
      placed(shown(item[name])),
      element("span", { class: "type" }, Object.keys(item[name])[0]),
    ]);
  const columns = names.map((name) => ({
    name,
    cell: cellOf(name),
    value: (item) => shown(item[name]),
  }));
  const open = {
    name: "",
    cell: (item) => {
      const key = keys.map((name) => shown(item[name])).join(" ");
      const opener = button("Open", () => onEdit(item));
      opener.setAttribute("aria-label", `Open ${key}`);
      return opener;
    },
  };
  return dataTable({
    label: "Items",
    rows: items,
    empty: "No item matches.",
    columns: [open, ...columns],
  });
}

// The builder

function makeBuilder(description, chosenIndex) {
  const indexes = indexesOf(description);
  const state = { index: chosenIndex, partition: [], sort: [], filters: [] };
  const keyHost = element("div", { class: "conditions" });
  const filterHost = element("div", { class: "conditions" });
  const options = [
    ["", "the table"],
    ...indexes.map((one) => [one.name, `${one.kind} index ${one.name}`]),
  ];
  const target = select("Read", options, chosenIndex ?? "", (name) => {
    state.index = name || null;
    showKeys();
  });
  const limit = element("input", {
    type: "number",
    min: 1,
    max: 1000,
    value: PAGE,
    class: "short",
  });
  const descending = checkbox("descending", false);
  const consistent = checkbox("consistent read", false);
  const projection = element("input", { type: "text", placeholder: "all attributes" });

  function showKeys() {
    const { partition, sort } = keyOf(description, state.index);
    state.partition = partition.map((one) => keyRow(one, ["="]));
    state.sort = sort.map((one) => keyRow(one, Object.keys(KEY_OPERATORS)));
    fill(keyHost, [...state.partition, ...state.sort].map((row) => row.node));
  }

  function addFilter() {
    const row = filterRow(() => {
      state.filters = state.filters.filter((other) => other !== row);
      row.node.remove();
    });
    state.filters.push(row);
    filterHost.append(row.node);
    row.node.querySelector("input").focus();
  }

  showKeys();
  const node = element("div", {}, [
    element("div", { class: "row start" }, [
      target.node,
      field("Page size", limit),
      field("Attributes", projection),
      descending.node,
      consistent.node,
    ]),
    element(
      "p",
      { class: "quiet" },
      "With a partition key this is a Query; without one, it is a Scan.",
    ),
    keyHost,
    filterHost,
    button("Add a filter", addFilter),
  ]);
  return {
    node,
    read: () => ({
      table: description.TableName,
      index: state.index,
      partition: state.partition.map((row) => row.read()),
      sort: state.sort.map((row) => row.read()),
      filters: state.filters.map((row) => row.read()).filter((one) => one.name),
      limit: Number(limit.value) || null,
      isDescending: descending.control.checked,
      isConsistent: consistent.control.checked,
      projection: projection.value.split(",").map((name) => name.trim()).filter(Boolean),
    }),
  };
}

function keyRow({ name, type, kind }, operators) {
  const word = kind === "HASH" ? "partition key" : "sort key";
  const values = valueInputs(`${name}: value`, `${name}: upper value`);
  const operator = select(
    `${name}: condition`,
    operators.map((one) => [one, KEY_OPERATORS[one].words]),
    "=",
    () => values.show(KEY_OPERATORS[operator.control.value].values),
  );
  const node = element("div", {
    class: "condition",
    role: "group",
    "aria-label": `${word} ${name}`,
  }, [
    element("span", { class: "name" }, [name, element("span", { class: "type" }, type)]),
    operators.length > 1 ? operator.control : element("span", { class: "quiet" }, "is"),
    values.nodes,
    element("span", { class: "quiet" }, word),
  ]);
  operator.control.setAttribute("aria-label", `${name}: condition`);
  return {
    node,
    read: () => ({
      name,
      type,
      operator: operator.control.value,
      texts: values.read(),
      isGiven: values.read()[0] !== "",
    }),
  };
}

function filterRow(onRemove) {
  const name = element("input", {
    type: "text",
    placeholder: "attribute",
    "aria-label": "Filter: attribute",
  });
  const values = valueInputs("Filter: value", "Filter: upper value");
  const names = Object.keys(FILTER_OPERATORS);
  const operator = select("", names.map((one) => [one, FILTER_OPERATORS[one].words]), "=", () => {
    values.show(FILTER_OPERATORS[operator.control.value].values);
  }).control;
  operator.setAttribute("aria-label", "Filter: condition");
  const type = select("", SCALARS.map((one) => [one, TYPES[one]]), "S").control;
  type.setAttribute("aria-label", "Filter: type");
  const remover = button("Remove", onRemove);
  return {
    node: element("div", { class: "condition", role: "group", "aria-label": "Filter" }, [
      name,
      operator,
      type,
      values.nodes,
      remover,
    ]),
    read: () => ({
      name: name.value,
      operator: operator.value,
      type: type.value,
      texts: values.read(),
    }),
  };
}

function valueInputs(label, upperLabel) {
  const first = element("input", { type: "text", placeholder: "value", "aria-label": label });
  const second = element("input", {
    type: "text",
    placeholder: "and",
    "aria-label": upperLabel,
    hidden: true,
  });
  return {
    nodes: [first, second],
    show(many) {
      first.hidden = many < 1;
      second.hidden = many < 2;
    },
    read: () => [first.value, second.value],
  };
}
