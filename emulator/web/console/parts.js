/**
 * Parts that several views are made of.
 *
 *   heading("orders", "live", [nodes])             the title of a view, and what stands beside it
 *   choice("Load of", ["read", "write"], "read", onChoose, labels)
 *   field("Limit", input)                          a labelled control
 *   button("Advance", onPress, { isDangerous })
 *   message(host) -> { show(text, kind), clear() } what came of an action, said aloud
 *   copyable(title, text)                          code with a button that copies it
 *   placed(text)                                   a text from outside, cut where it is long
 */

import { announce, element, fill } from "../kit/dom.js";

const LONGEST = 90;
let fields = 0;

export function heading(name, kind, beside = []) {
  return element("div", { class: "heading" }, [
    element("h1", {}, name),
    element("span", { class: "kind" }, kind),
    element("div", { class: "chips" }, beside),
  ]);
}

export function choice(label, names, chosen, onChoose, labels = {}) {
  const buttons = names.map((name) =>
    element("button", {
      type: "button",
      "aria-pressed": String(name === chosen),
      on: {
        click: () => {
          buttons.forEach((one, at) =>
            one.setAttribute("aria-pressed", String(names[at] === name))
          );
          onChoose(name);
        },
      },
    }, labels[name] ?? name)
  );
  return element("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

export function field(label, control, { isInline = false } = {}) {
  control.id ||= `field-${fields++}`;
  const name = element("label", { for: control.id }, label);
  return element("div", { class: isInline ? "field inline" : "field" }, name, control);
}

export function select(label, options, chosen, onChange = () => {}) {
  const control = element(
    "select",
    { on: { change: () => onChange(control.value) } },
    options.map(([value, text]) =>
      element("option", { value, selected: value === chosen || null }, text)
    ),
  );
  return { node: field(label, control), control };
}

export function checkbox(label, isChecked, onChange = () => {}) {
  const control = element("input", {
    type: "checkbox",
    checked: isChecked,
    on: { change: () => onChange(control.checked) },
  });
  return { node: field(label, control, { isInline: true }), control };
}

export function button(label, onPress, { isDangerous = false, isMain = false } = {}) {
  const kinds = ["action", isDangerous ? "dangerous" : "", isMain ? "main" : ""];
  return element("button", {
    type: "button",
    class: kinds.filter(Boolean).join(" "),
    on: { click: onPress },
  }, label);
}

export function message() {
  const node = element("p", { class: "message", role: "status", hidden: true });
  return {
    node,
    show(text, kind = "done") {
      node.className = `message ${kind}`;
      node.hidden = false;
      fill(node, text);
    },
    clear() {
      node.hidden = true;
    },
  };
}

export function copyable(title, text) {
  const code = element("pre", { tabindex: 0, "aria-label": title }, text);
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`${title} copied`);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      copy.textContent = "Selected";
    }
    setTimeout(() => copy.textContent = "Copy", 1500);
  });
  return element("div", { class: "copyable" }, [
    element("div", { class: "row" }, element("h3", {}, title), copy),
    code,
  ]);
}

export function placed(text, longest = LONGEST) {
  const isLong = text.length > longest;
  const shown = isLong ? `${text.slice(0, longest)}…` : text;
  return element("span", { class: "value", title: isLong ? text : null }, shown);
}
