/**
 * Asking the server. Everything goes to the private routes of the server that the page came from.
 *
 *   await ask("console/state")                 -> the answer's JSON; a refusal is a ServerError
 *   await post("clock", { advance: 60 })
 *   await remove("faults")
 *   await call(namespace, "Query", request)    -> { answer } or { error: { code, message, ... } }
 */

export class ServerError extends Error {}

const ROUTES = "/_emulator/";

export function address(route, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return text ? `${ROUTES}${route}?${text}` : `${ROUTES}${route}`;
}

export function ask(route, query = {}) {
  return fetched(address(route, query), { method: "GET" });
}

export function post(route, members = {}) {
  return fetched(address(route), { method: "POST", body: JSON.stringify(members) });
}

export function remove(route, members = null) {
  const body = members === null ? undefined : JSON.stringify(members);
  return fetched(address(route), { method: "DELETE", body });
}

/** Says to the server that this page is closed; the page does not wait for an answer. */
export function sayGoodbye(consoleId) {
  const options = { method: "DELETE", keepalive: true };
  fetch(address("console/feed", { console: consoleId }), options).catch(() => {});
}

async function fetched(url, options) {
  let response;
  try {
    response = await fetch(url, { cache: "no-store", ...options });
  } catch {
    throw new ServerError("the server does not answer");
  }
  const answer = await response.json();
  if (!response.ok) throw new ServerError(answer.error ?? `the server answered ${response.status}`);
  return answer;
}

/** Makes a call of the service, and returns its answer, or its error as the service words it. */
export async function call(namespace, operation, request) {
  const result = await post("console/call", { namespace, operation, request });
  if (result.status === 200) return { answer: result.answer };
  const { __type: type = "", message, Message, ...members } = result.error;
  const code = type.split("#").pop();
  return {
    error: { code, message: message ?? Message ?? "", members, elsewhere: result.elsewhere ?? {} },
  };
}
