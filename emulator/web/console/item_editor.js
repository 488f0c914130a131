/**
 * A dialog that puts, edits and deletes one item. What the service says is shown as it says it.
 *
 *   openEditor({ namespace, description, item, isReadOnly, onChanged })    item null: a new one
 */

import { element, fill } from "../kit/dom.js";
import { button, checkbox, choice, message } from "./parts.js";
import { keyOf, keyOfItem } from "./keys.js";
import { call } from "./server.js";
import { plainOf, wireOf } from "./values.js";

const FORMS = { plain: "JSON", wire: "DynamoDB JSON" };

export function openEditor({ namespace, description, item, isReadOnly, onChanged }) {
  const start = item ?? emptyItem(description);
  const editor = { form: plainOf(start) === null ? "wire" : "plain" };
  const text = element("textarea", {
    class: "code",
    rows: 16,
    spellcheck: "false",
    "aria-label": "Item",
    readonly: isReadOnly,
  });
  const said = message();
  const onlyNew = checkbox("only if there is no such item", item === null);
  const dialog = element("dialog", {
    class: "editor",
    "aria-label": item ? "Edit item" : "New item",
  });

  const show = (wire) =>
    text.value = JSON.stringify(editor.form === "wire" ? wire : plainOf(wire), null, 2);
  const forms = choice("Form", Object.keys(FORMS), editor.form, (form) => switchTo(form), FORMS);
  show(start);

  function switchTo(form) {
    const wire = read();
    if (wire === null) return resetForms();
    if (form === "plain" && plainOf(wire) === null) {
      said.show("Sets, binary and long numbers need DynamoDB JSON.", "note");
      return resetForms();
    }
    editor.form = form;
    show(wire);
  }

  function resetForms() {
    const names = Object.keys(FORMS);
    [...forms.children].forEach((one, at) =>
      one.setAttribute("aria-pressed", String(names[at] === editor.form))
    );
  }

  function read() {
    try {
      const value = JSON.parse(text.value);
      if (value === null || typeof value !== "object" || Array.isArray(value)) {
        throw new SyntaxError("an item is an object");
      }
      said.clear();
      return editor.form === "wire" ? value : wireOf(value);
    } catch (failure) {
      said.show(`This is not JSON: ${failure.message}`, "failed");
      return null;
    }
  }

  async function make(operation, request, done) {
    try {
      const { error } = await call(namespace, operation, request);
      if (error) {
        said.show([element("b", {}, error.code), " ", error.message], "failed");
        return;
      }
      dialog.close();
      onChanged(done);
    } catch (failure) {
      said.show(failure.message, "failed");
    }
  }

  function save() {
    const wire = read();
    if (wire === null) return;
    const request = { TableName: description.TableName, Item: wire };
    if (onlyNew.control.checked) {
      request.ConditionExpression = "attribute_not_exists(#key)";
      request.ExpressionAttributeNames = { "#key": keyOf(description).partition[0].name };
    }
    make("PutItem", request, "saved");
  }

  function erase() {
    const key = keyOfItem(description, item);
    make("DeleteItem", { TableName: description.TableName, Key: key }, "deleted");
  }

  const actions = [button("Close", () => dialog.close())];
  if (!isReadOnly) {
    actions.unshift(button("Save", save, { isMain: true }));
    if (item) actions.push(eraser(erase));
  }
  fill(
    dialog,
    element("div", { class: "row" }, [
      element("h2", {}, isReadOnly ? "Item" : item ? "Edit item" : "New item"),
      forms,
    ]),
    text,
    item === null && !isReadOnly ? onlyNew.node : null,
    said.node,
    element("div", { class: "row start" }, actions),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  text.focus();
}

/** A button that asks once more before it deletes. */
function eraser(onSure) {
  const erase = button("Delete", () => {
    if (erase.dataset.asked) return onSure();
    erase.dataset.asked = "yes";
    erase.textContent = "Really delete";
  }, { isDangerous: true });
  erase.addEventListener("blur", () => {
    delete erase.dataset.asked;
    erase.textContent = "Delete";
  });
  return erase;
}

function emptyItem(description) {
  const { partition, sort } = keyOf(description);
  const blank = { S: { S: "" }, N: { N: "0" }, B: { B: "" } };
  return Object.fromEntries([...partition, ...sort].map(({ name, type }) => [name, blank[type]]));
}
