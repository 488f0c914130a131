/**
 * The console: what is chosen in the address is shown, and told what is new.
 */

import { element, fill } from "../kit/dom.js";
import { controlsView } from "./controls.js";
import { openFeed } from "./feed.js";
import { itemsView } from "./items.js";
import { liveView } from "./live.js";
import { overview } from "./overview.js";
import { requestLog, requestsView } from "./requests.js";
import { address, selection } from "./selection.js";
import { ask } from "./server.js";
import { sidebar } from "./sidebar.js";
import { spendingPace } from "./spending.js";
import { tableView } from "./table_view.js";
import { learnWords } from "./throttles.js";

const OF_TABLES = { live: liveView, items: itemsView, table: tableView };
const OF_ALL = { overview, requests: requestsView, controls: controlsView };
const TABS = [["overview", "Tables"], ["requests", "Requests"], ["controls", "Controls"]];
const TABLE_TABS = [["live", "Live"], ["items", "Items"], ["table", "Table"]];
const KEPT_EVENTS = 1000;
const REFRESH_EVERY = 5; // answers between two looks at the sizes of tables
const FEW_NAMESPACES = 50;

const page = {
  state: null,
  shown: null, // the view, and the address it was made for
  events: [],
  tables: "",
  rounds: 0,
  isConnected: true,
  log: requestLog(),
  pace: spendingPace(),
};
const head = document.getElementById("head");
const host = document.getElementById("view");
const notice = document.getElementById("notice");
const side = sidebar(document.getElementById("tables"));

/** Asks for tables and settings again; views that show only what the feed tells stay. */
async function refresh({ isQuiet = false, isOwn = true } = {}) {
  const [state, { ids }] = await Promise.all([ask("console/state"), ask("snapshot")]);
  page.state = { ...state, snapshots: ids };
  page.tables = JSON.stringify(tablesOf(state));
  learnWords(state.throttling);
  side.update(state);
  showHead();
  if (!isQuiet && (isOwn || !isBusy())) show({ isAgain: true });
}

/** The tables by namespace, as every answer of the feed lists them. */
function tablesOf({ namespaces }) {
  return namespaces.map(({ namespace, tables }) => [namespace, tables.map((one) => one.TableName)]);
}

/** Says what came of an action; it stays until another view is shown. */
function notify(text, kind = "done") {
  notice.className = `message ${kind}`;
  notice.hidden = false;
  fill(notice, text);
}

/** Whether the reader is filling in a form of the view, which must not go away then. */
function isBusy() {
  const active = document.activeElement;
  return host.contains(active) && active.matches("input, select, textarea");
}

function describedTable({ namespace, table }) {
  const holder = page.state.namespaces.find((one) => one.namespace === namespace);
  return holder?.tables.find((one) => one.TableName === table) ?? null;
}

function namespacesOf(table) {
  return page.state.namespaces
    .filter(({ tables }) => tables.some((one) => one.TableName === table))
    .map(({ namespace }) => namespace);
}

function contextOf(selected) {
  return {
    selected,
    description: describedTable(selected),
    get state() {
      return page.state;
    },
    feed,
    log: page.log,
    pace: page.pace,
    partitionUnits: page.state.partition_units,
    isReadOnly: page.state.console !== "on",
    namespacesOf,
    refresh,
    notify,
  };
}

/** Shows what the address names; the same again only if it depends on what has changed. */
function show({ isAgain = false } = {}) {
  if (page.state === null) return;
  const selected = selection(), name = location.hash;
  const isSame = page.shown?.name === name;
  if (isSame && !(isAgain && page.shown.view.isOfState)) return;
  page.shown?.view.remove();
  const view = viewOf(selected);
  page.shown = { name, view };
  showHead();
  side.show();
  if (!isSame) {
    notice.hidden = true;
    side.fold();
    scrollTo(0, 0);
    feed?.askNow();
  }
}

function viewOf(selected) {
  const ofTable = OF_TABLES[selected.view];
  if (!ofTable) return (OF_ALL[selected.view] ?? overview)(host, contextOf(selected));
  if (describedTable(selected)) return ofTable(host, contextOf(selected));
  return missing(selected);
}

/** Says that a table is not in its namespace, and in which others it is. */
function missing({ view, namespace, table }) {
  const holders = namespacesOf(table);
  const links = holders.map((holder) =>
    element("li", {}, element("a", { href: address({ view, namespace: holder, table }) }, holder))
  );
  fill(host, [
    element("h1", {}, table ?? "No table"),
    element(
      "p",
      { class: "message failed", role: "status" },
      `There is no table ${table} in ${namespace}.`,
    ),
    holders.length
      ? [element("p", {}, "It is in another namespace:"), element("ul", {}, links)]
      : null,
  ]);
  return { isOfState: true, watch: () => ({}), update() {}, remove() {} };
}

function showHead() {
  const selected = selection(), { state } = page;
  const tab = ([view, label]) =>
    element("a", {
      href: address({ view }),
      "aria-current": view === selected.view ? "page" : null,
    }, label);
  const ofTable = selected.table && OF_TABLES[selected.view] ? TABLE_TABS.map(tab) : [];
  fill(
    head,
    element("a", { class: "name", href: "#/overview" }, "dynamometer"),
    element("nav", { class: "tabs", "aria-label": "Views" }, TABS.map(tab)),
    ofTable.length
      ? element(
        "nav",
        { class: "tabs of-table", "aria-label": `Views of ${selected.table}` },
        ofTable,
      )
      : null,
    element("div", { class: "status" }, [
      element("span", { class: "badge" }, `capacity ${state?.capacity ?? ""}`),
      state?.clock === "manual"
        ? element("span", { class: "badge" }, new Date(state.now * 1000).toISOString().slice(0, 19))
        : null,
      state && state.console !== "on" ? element("span", { class: "badge" }, state.console) : null,
      element("span", {
        class: page.isConnected ? "badge fine" : "badge throttles",
        role: "status",
      }, page.isConnected ? "live" : "no answer"),
    ]),
  );
}

function take(answer) {
  page.log.add(answer);
  page.events.push(...answer.events);
  page.events.splice(0, Math.max(0, page.events.length - KEPT_EVENTS));
  if (answer.spending) page.pace.add(answer.spending, answer.now);
  page.rounds++;
  const tables = JSON.stringify(answer.tables);
  const hasMoved = page.state.clock === "manual" && page.state.now !== answer.now;
  if (tables !== page.tables || answer.capacity !== page.state.capacity || hasMoved) {
    refresh({ isOwn: false }).catch(() => {});
  } else if (page.rounds % REFRESH_EVERY === 0 && answer.tables.length <= FEW_NAMESPACES) {
    refresh({ isQuiet: true }).catch(() => {});
  }
  page.shown?.view.update(answer, page.events);
}

let feed = null;

async function start() {
  try {
    await refresh();
  } catch (failure) {
    fill(host, element("p", { class: "message failed", role: "alert" }, failure.message));
    return;
  }
  feed = openFeed({ watch: () => page.shown?.view.watch() ?? {} });
  feed.subscribe(take);
  feed.onState((isConnected) => {
    if (page.isConnected === isConnected) return;
    page.isConnected = isConnected;
    showHead();
  });
  page.shown = null;
  show();
}

addEventListener("hashchange", () => show());
start();
