/**
 * What a test may do to the emulator: time, capacity mode, faults, snapshots, reset; and the traffic
 * just seen as a workload of the lab.
 */

import { element, fill } from "../kit/dom.js";
import { count, duration } from "../kit/format.js";
import { dataTable } from "../kit/table.js";
import { button, field, heading, select } from "./parts.js";
import { address as routeAddress, ask, post, remove } from "./server.js";

const MODES = [
  ["observe", "observe: record what would throttle"],
  ["enforce", "enforce: refuse it"],
  ["off", "off: neither"],
];
const FAULTS = [
  ["throttle", "throttle"],
  ["internal_error", "internal error"],
  ["latency", "latency"],
  ["unprocessed", "leave items of batches unprocessed"],
  ["conflict", "transaction conflict"],
];
const ADVANCES = [[1, "1 s"], [60, "1 min"], [3600, "1 h"], [86_400, "1 day"]];
const REPORT_MS = 1000;
const advance = { seconds: 60 }; // what was asked for last

export function controlsView(host, context) {
  const act = async (work, done) => {
    try {
      await work();
      await context.refresh();
      context.notify(done);
    } catch (failure) {
      context.notify(failure.message, "failed");
    }
  };
  const { state, selected, isReadOnly, notify } = context;
  const parts = { state, selected, isReadOnly, notify, act };
  const traffic = workload(parts);
  const sections = context.isReadOnly
    ? [element("p", { class: "quiet" }, "This console is read-only."), traffic.node]
    : [
      clockPanel(parts),
      capacityPanel(parts),
      faultsPanel(parts),
      snapshots(parts),
      resetPanel(parts),
      traffic.node,
    ];
  fill(host, heading("Controls", "of the whole server"), sections);
  return {
    isOfState: true,
    watch: () => ({}),
    update: (answer) => traffic.update(answer),
    remove: () => traffic.remove(),
  };
}

function panel(title, ...children) {
  return element("section", { class: "panel" }, element("h2", {}, title), children);
}

function clockPanel({ state, act }) {
  if (state.clock !== "manual") {
    return panel("Clock", [
      element(
        "p",
        { class: "quiet" },
        "Time is real. Start the server with --clock manual to advance it yourself.",
      ),
    ]);
  }
  const seconds = element("input", {
    type: "number",
    min: 0,
    step: "any",
    value: advance.seconds,
    class: "short",
  });
  const pass = (amount) =>
    act(() => post("clock", { advance: amount }), `The clock was advanced by ${duration(amount)}.`);
  return panel("Clock", [
    element("p", {}, `It is ${new Date(state.now * 1000).toISOString()}.`),
    element("div", { class: "row start" }, [
      field("Seconds", seconds),
      button("Advance", () => {
        advance.seconds = Number(seconds.value);
        pass(advance.seconds);
      }, { isMain: true }),
      ADVANCES.map(([amount, label]) => button(`+ ${label}`, () => pass(amount))),
    ]),
  ]);
}

function capacityPanel({ state, act }) {
  const mode = select(
    "Mode",
    MODES,
    state.capacity,
    (capacity) => act(() => post("capacity", { capacity }), `Capacity is now ${capacity}.`),
  );
  return panel("Capacity", mode.node);
}

function faultsPanel({ state, act, selected }) {
  const kind = select(
    "Kind",
    FAULTS,
    "throttle",
    (name) => latency.parentNode.hidden = name !== "latency",
  );
  const operations = element("input", { type: "text", placeholder: "all, or PutItem, Query" });
  const tables = element("input", {
    type: "text",
    placeholder: "all",
    value: selected.table ?? "",
  });
  const share = element("input", { type: "number", min: 0, max: 100, value: 100, class: "short" });
  const times = element("input", {
    type: "number",
    min: 1,
    placeholder: "no limit",
    class: "short",
  });
  const latency = element("input", {
    type: "number",
    min: 0,
    step: "any",
    value: 1,
    class: "short",
  });
  const latencyField = field("Seconds", latency);
  latencyField.hidden = true;
  const listed = (input) => input.value.split(",").map((name) => name.trim()).filter(Boolean);
  const list = dataTable({
    label: "Active faults",
    rows: state.faults,
    empty: "No faults are active.",
    columns: [
      { name: "kind", text: (rule) => rule.kind },
      { name: "operations", text: (rule) => rule.operations.join(", ") || "all" },
      { name: "tables", text: (rule) => rule.tables.join(", ") || "all" },
      { name: "share", isNumber: true, text: (rule) => `${Math.round(rule.share * 100)} %` },
      {
        name: "hits",
        isNumber: true,
        text: (rule) => `${count(rule.hits)}${rule.times === null ? "" : ` of ${rule.times}`}`,
      },
    ],
  });
  const add = () => {
    const rule = {
      kind: kind.control.value,
      operations: listed(operations),
      tables: listed(tables),
      share: Number(share.value) / 100,
    };
    if (times.value) rule.times = Number(times.value);
    if (rule.kind === "latency") rule.latency = Number(latency.value);
    act(() => post("faults", rule), "The fault is active.");
  };
  return panel("Faults", [
    element("div", { class: "row start" }, [
      kind.node,
      field("Operations", operations),
      field("Tables", tables),
      field("Share in %", share),
      field("At most (times)", times),
      latencyField,
      button("Inject", add, { isMain: true }),
      button("Remove all", () => act(() => remove("faults"), "All faults were removed.")),
    ]),
    list.node,
  ]);
}

function snapshots({ state, act }) {
  const restore = (id) =>
    act(() => post("snapshot/restore", { id }), `Snapshot ${id} was restored.`);
  const list = dataTable({
    label: "Snapshots",
    rows: state.snapshots,
    empty: "No snapshots yet.",
    columns: [
      { name: "snapshot", text: (id) => id },
      {
        name: "",
        cell: (id) => [
          button("Restore", () => restore(id)),
          " ",
          button(
            "Drop",
            () => act(() => remove("snapshot", { id }), `Snapshot ${id} was deleted.`),
          ),
        ],
      },
    ],
  });
  return panel("Snapshots", [
    element("p", { class: "quiet" }, "A copy of all tables in all namespaces, kept in memory."),
    button("Take a snapshot", () => act(() => post("snapshot"), "The snapshot was taken."), {
      isMain: true,
    }),
    list.node,
  ]);
}

function resetPanel({ act }) {
  return panel("Reset", [
    element("p", { class: "quiet" }, "Deletes every table, stream and count in every namespace."),
    button("Reset everything", () => {
      if (confirm("Delete every table of every namespace?")) {
        act(() => post("reset"), "Everything was deleted.");
      }
    }, { isDangerous: true }),
  ]);
}

// The traffic just seen

function workload({ state, selected, isReadOnly, notify }) {
  const tables = state.namespaces.flatMap(({ namespace, tables }) =>
    tables.map((
      { TableName: table },
    ) => [JSON.stringify({ namespace, table }), `${table} (${namespace})`])
  );
  const chosen = JSON.stringify({ namespace: selected.namespace, table: selected.table });
  const table = select("Table", tables, chosen);
  const kept = element("p", { class: "quiet" }, "");
  const status = element("p", { role: "status", hidden: true });
  const view = { timer: null };

  const download = async () => {
    const query = JSON.parse(table.control.value);
    try {
      const response = await fetch(routeAddress("console/workload", query));
      if (!response.ok) throw new Error((await response.json()).error);
      save(await response.blob(), `${query.table.replace(/[^\w.-]+/g, "-")}-traffic.yaml`);
      notify("The workload was saved; run it with: dynamometer lab FILE");
    } catch (failure) {
      notify(failure.message, "failed");
    }
  };
  const report = async () => {
    try {
      await post("console/report", JSON.parse(table.control.value));
      wait();
    } catch (failure) {
      notify(failure.message, "failed");
    }
  };
  const wait = async () => {
    status.hidden = false;
    const { state: progress, complaint } = await ask("console/report");
    if (progress === "running") {
      fill(status, "The lab plays this traffic in twenty worlds…");
      view.timer = setTimeout(wait, REPORT_MS);
    } else if (progress === "ready") {
      const page = routeAddress("console/report/page");
      fill(status, element("a", { href: page, target: "_blank" }, "Open the report"));
    } else fill(status, complaint);
  };

  const node = panel("Traffic as a workload", [
    element(
      "p",
      {},
      "The requests just made to a table, as a file that the lab replays against this design and any others that you add.",
    ),
    kept,
    tables.length
      ? element("div", { class: "row start" }, [
        table.node,
        button("Download the workload", download, { isMain: true }),
        isReadOnly ? null : button("Create the report", report),
      ])
      : element("p", { class: "quiet" }, "There is no table."),
    status,
  ]);
  return {
    node,
    update({ traffic }) {
      const span = traffic.requests ? ` over ${duration(traffic.seconds)}` : "";
      fill(
        kept,
        `${count(traffic.requests)} requests${span}, recorded since a console was opened.`,
      );
    },
    remove() {
      clearTimeout(view.timer);
    },
  };
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
