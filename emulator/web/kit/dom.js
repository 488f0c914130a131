/**
 * Elements. Text from outside becomes a text node or an attribute and is never parsed as markup.
 *
 *   element("button", { class: "quiet", on: { click: save } }, "Save")
 *   svgElement("line", { class: "axis", x1: 0, y1: 10, x2: 90, y2: 10 })
 *
 * Attributes: undefined, null and false are left out, true is an empty attribute. `style` is an
 * object (set through CSSOM, so that a policy without inline styles holds), `on` an object of
 * listeners, `data` an object for dataset. Children: nodes, texts, numbers, lists; null is left out.
 */

const SVG = "http://www.w3.org/2000/svg";

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svgElement(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "style") setStyle(node, value);
    else if (name === "on") listen(node, value);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return node;
}

function setStyle(node, style) {
  for (const [name, value] of Object.entries(style)) node.style.setProperty(name, String(value));
}

function listen(node, listeners) {
  for (const [name, listener] of Object.entries(listeners)) node.addEventListener(name, listener);
}

/** Replaces what a node contains. */
export function fill(node, ...children) {
  node.replaceChildren(
    ...children.flat(9).filter((child) => child !== null && child !== undefined),
  );
  return node;
}

/** Returns plain data that stands in the page as JSON, in the element of that id. */
export function embeddedData(id = "data") {
  return JSON.parse(document.getElementById(id).textContent);
}

let region = null;

/** Says a text to those who listen to the page instead of looking at it. */
export function announce(text) {
  if (region === null) {
    region = element("div", { class: "unseen", role: "status", "aria-live": "polite" });
    document.body.append(region);
  }
  if (region.textContent !== text) region.textContent = text;
}
