/**
 * Explanations: a button with a dotted line under it, and a text that a tap, a key or the pointer
 * shows. In the page, and working without a script where the browser places it:
 *
 *   <button type="button" class="hint" popovertarget="hint-1">headroom</button>
 *   <span popover id="hint-1" class="explanation">largest multiple of this load</span>
 *
 *   explained("headroom", "largest multiple ...")  -> [button, text], made by a script
 *   placeExplanations(root)                        -> puts each beside its button; shows it on hover
 */

import { element } from "./dom.js";

let made = 0;

export function explained(label, text) {
  const id = `explained-${made++}`;
  const button = element("button", { type: "button", class: "hint", popovertarget: id }, label);
  const note = element("span", { popover: "auto", id, class: "explanation" }, text);
  attach(button, note);
  return [button, note];
}

export function placeExplanations(root = document) {
  for (const button of root.querySelectorAll("button.hint[popovertarget]")) {
    attach(button, document.getElementById(button.getAttribute("popovertarget")));
  }
}

function attach(button, note) {
  button.setAttribute("aria-describedby", note.id);
  note.addEventListener("toggle", (event) => {
    if (event.newState === "open") place(button, note);
  });
  button.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse" && !note.matches(":popover-open")) {
      note.showPopover();
      note.dataset.hovered = "";
    }
  });
  button.addEventListener("pointerleave", () => {
    if ("hovered" in note.dataset && note.matches(":popover-open")) note.hidePopover();
    delete note.dataset.hovered;
  });
  button.addEventListener("click", (event) => {
    if (!("hovered" in note.dataset)) return;
    event.preventDefault();
    delete note.dataset.hovered;
  });
}

function place(button, note) {
  const box = button.getBoundingClientRect(), { offsetWidth: width, offsetHeight: height } = note;
  const left = Math.max(8, Math.min(box.left, innerWidth - width - 8));
  const isBelow = box.bottom + 6 + height < innerHeight - 8;
  const top = isBelow ? box.bottom + 6 : Math.max(8, box.top - height - 6);
  note.style.setProperty("left", `${left}px`);
  note.style.setProperty("top", `${top}px`);
}
