/**
 * Attribute values of the wire, {"S": "a"} or {"N": "1"}, as people read and write them.
 *
 *   shown({ N: "12" })                  -> "12"
 *   typeName("SS")                      -> "string set"
 *   attributeOf("N", "12")              -> { N: "12" }
 *   plainOf(item) / wireOf(plain)       an item as plain JSON; null if it cannot be without loss
 */

export const TYPES = {
  S: "string",
  N: "number",
  B: "binary (base64)",
  BOOL: "boolean",
  NULL: "null",
  L: "list",
  M: "map",
  SS: "string set",
  NS: "number set",
  BS: "binary set",
};

export function typeName(type) {
  return TYPES[type] ?? type;
}

export function shown(attribute) {
  if (attribute === undefined || attribute === null) return "";
  const [[type, value]] = Object.entries(attribute);
  if (type === "S" || type === "N") return value;
  if (type === "B") return `0x${hexadecimal(value)}`;
  if (type === "BOOL") return String(value);
  if (type === "NULL") return "null";
  if (type === "M") return JSON.stringify(plainValue(attribute) ?? value);
  if (type === "L") return JSON.stringify(plainValue(attribute) ?? value);
  return `{${
    value.map((member) => type === "BS" ? `0x${hexadecimal(member)}` : member).join(", ")
  }}`;
}

function hexadecimal(base64) {
  const bytes = [...atob(base64)];
  return bytes.map((one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

/** The attribute that a text of a form means; binary is written in base64. */
export function attributeOf(type, text) {
  if (type === "BOOL") return { BOOL: text.trim().toLowerCase() === "true" };
  if (type === "NULL") return { NULL: true };
  if (type === "B") return { B: text.trim() };
  if (type === "N") return { N: text.trim() };
  return { S: text };
}

// Plain JSON, where it says the same

export function plainOf(item) {
  const plain = {};
  for (const [name, attribute] of Object.entries(item)) {
    const value = plainValue(attribute);
    if (value === undefined) return null;
    setOwn(plain, name, value);
  }
  return plain;
}

/** Returns undefined for what JSON has no word for: sets, binary, numbers that lose digits. */
function plainValue(attribute) {
  const [[type, value]] = Object.entries(attribute);
  if (type === "S" || type === "BOOL") return value;
  if (type === "NULL") return null;
  if (type === "N") return String(Number(value)) === value ? Number(value) : undefined;
  if (type === "L") {
    const members = value.map(plainValue);
    return members.includes(undefined) ? undefined : members;
  }
  if (type === "M") return plainOf(value) ?? undefined;
  return undefined;
}

export function wireOf(plain) {
  const item = {};
  for (const [name, value] of Object.entries(plain)) setOwn(item, name, wireValue(value));
  return item;
}

function wireValue(value) {
  if (value === null) return { NULL: true };
  if (typeof value === "string") return { S: value };
  if (typeof value === "number") return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(wireValue) };
  return { M: wireOf(value) };
}

/** Sets a member whatever its name is; an attribute may be called __proto__. */
function setOwn(object, name, value) {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
