/**
 * What the page shows, kept in the address so that it can be bookmarked and gone back to:
 * #/live?namespace=local%2Fus-east-1&table=orders&index=byStatus
 *
 *   selection()                    -> { view, namespace, table, index }
 *   address({ view: "items" })     -> the address of the same with something else
 *   choose({ table: "orders" })    goes there
 */

const NAMES = ["namespace", "table", "index"];

export function selection() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const given = new URLSearchParams(query);
  const chosen = { view: path || "overview" };
  for (const name of NAMES) chosen[name] = given.get(name);
  return chosen;
}

export function address(changes) {
  const chosen = { ...selection(), ...changes };
  if ("table" in changes && !("index" in changes)) chosen.index = null;
  const given = NAMES.filter((name) => chosen[name]).map((name) => [name, chosen[name]]);
  const query = new URLSearchParams(given).toString();
  return `#/${chosen.view}${query ? `?${query}` : ""}`;
}

export function choose(changes) {
  location.hash = address(changes);
}
