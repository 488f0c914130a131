/**
 * The list of tables at the side: a namespace to choose, a filter, tables with their indexes.
 */

import { element, fill } from "../kit/dom.js";
import { count } from "../kit/format.js";
import { indexesOf } from "./keys.js";
import { select } from "./parts.js";
import { address, selection } from "./selection.js";

const ALL = "";

export function sidebar(host) {
  const view = { words: "", namespace: ALL, state: null };
  const list = element("ul", { class: "list" });
  const filter = element("input", {
    type: "search",
    placeholder: "Filter tables",
    "aria-label": "Filter tables",
    on: {
      input: () => {
        view.words = filter.value.toLowerCase();
        show();
      },
    },
  });
  const namespaces = element("div");
  const folded = element("details", {
    class: "fold",
    open: matchMedia("(min-width: 861px)").matches,
  }, [
    element("summary", {}, "Tables"),
    namespaces,
    filter,
    list,
  ]);
  fill(host, folded);

  function showNamespaces() {
    const names = view.state.namespaces.map(({ namespace }) => namespace);
    if (!names.includes(view.namespace)) view.namespace = ALL;
    const options = [[ALL, "all"], ...names.map((name) => [name, name])];
    const chooser = select("Namespace", options, view.namespace, (name) => {
      view.namespace = name;
      show();
    });
    fill(namespaces, chooser.node);
  }

  function show() {
    const shown = view.state.namespaces.filter(({ namespace }) =>
      view.namespace === ALL || namespace === view.namespace
    );
    const groups = shown.map(({ namespace, tables }) => {
      const matching = tables.filter(({ TableName: name }) =>
        name.toLowerCase().includes(view.words)
      );
      if (!matching.length) return null;
      return element("li", {}, [
        element("span", { class: "namespace" }, namespace),
        element("ul", {}, matching.map((table) => tableEntry(namespace, table))),
      ]);
    });
    fill(list, groups);
  }

  return {
    update(state) {
      view.state = state;
      showNamespaces();
      show();
    },
    show: () => view.state && show(),
    fold() {
      if (!matchMedia("(min-width: 861px)").matches) folded.open = false;
    },
  };
}

function tableEntry(namespace, description) {
  const chosen = selection(), name = description.TableName;
  const isChosen = chosen.namespace === namespace && chosen.table === name;
  const view = ["live", "items", "table"].includes(chosen.view) ? chosen.view : "live";
  const entry = element(
    "a",
    {
      href: address({ view, namespace, table: name }),
      "aria-current": isChosen && !chosen.index ? "page" : null,
    },
    element("span", { class: "name" }, name),
    element("span", { class: "many" }, count(description.ItemCount)),
  );
  const indexes = indexesOf(description).filter((index) => index.kind === "global").map((index) =>
    element("li", {}, [
      element("a", {
        class: "index",
        href: address({
          view: view === "table" ? "live" : view,
          namespace,
          table: name,
          index: index.name,
        }),
        "aria-current": isChosen && chosen.index === index.name ? "page" : null,
      }, index.name),
    ])
  );
  return element("li", {}, entry, isChosen && indexes.length ? element("ul", {}, indexes) : null);
}
