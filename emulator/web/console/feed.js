/**
 * What is new, asked for again and again. The server says when to ask next, so that an open page
 * takes a small part of its time. A page that nobody sees asks for nothing.
 *
 *   const feed = openFeed({ watch: () => ({ namespace, table, index, keys }) });
 *   feed.subscribe((answer) => ...)      every answer, newest last
 *   feed.onState((isConnected) => ...)
 *   feed.askNow()
 */

import { ask, sayGoodbye } from "./server.js";

const SPENDING_EVERY = 3;
const AFTER_FAILURE_MS = 2000;

export function openFeed({ watch }) {
  const id = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  const listeners = new Set(), stateListeners = new Set();
  const feed = { last: 0, lastEvent: 0, timer: null, isAsking: false, rounds: 0 };

  const tellState = (isConnected) => stateListeners.forEach((listener) => listener(isConnected));

  const question = () => {
    const { namespace = null, table = null, index = null, keys = null } = watch();
    const query = { console: id, since: feed.last, since_event: feed.lastEvent };
    if (table) Object.assign(query, { namespace, table, index, keys });
    if (feed.rounds++ % SPENDING_EVERY === 0) query.spending = 1;
    return query;
  };

  const round = async () => {
    clearTimeout(feed.timer);
    if (feed.isAsking || document.hidden) return;
    feed.isAsking = true;
    let wait = AFTER_FAILURE_MS;
    try {
      const answer = await ask("console/feed", question());
      feed.last = answer.last;
      feed.lastEvent = answer.events.at(-1)?.number ?? feed.lastEvent;
      wait = answer.again * 1000;
      tellState(true);
      for (const listener of listeners) listener(answer);
    } catch (failure) {
      tellState(false);
      feed.last = feed.lastEvent = 0; // a server that was started anew counts anew
      if (failure.name !== "ServerError" && !(failure instanceof TypeError)) console.warn(failure);
    } finally {
      feed.isAsking = false;
      feed.timer = setTimeout(round, wait);
    }
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) sayGoodbye(id);
    else round();
  });
  addEventListener("pagehide", () => sayGoodbye(id));
  round();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onState(listener) {
      stateListeners.add(listener);
    },
    askNow() {
      feed.rounds = 0;
      round();
    },
  };
}
