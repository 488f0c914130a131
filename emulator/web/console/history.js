/**
 * The last minutes of one table or index, made of what the server says every second or so.
 * Partitions are told by what they have consumed in their life; the difference over time is load.
 *
 *   const history = resourceHistory(limits);          limits: units a partition carries [read, write]
 *   history.add(answer, wallSeconds)                  one answer of the feed
 *   history.heat(axis)  -> { heat, splits, start }    for the kit's heatMap; axis: both, read, write
 *   history.series()    -> { start, step, read, write, refusedRead, refusedWrite, backlog }
 *   history.cell(position, step)                      what is known of one cell
 *
 * Time is that of the reader: a manual clock may stand still while requests come.
 */

export const STEP_SECONDS = 2;
export const STEPS = 150;
const LEAST_STEPS = 30;

export function resourceHistory(limits) {
  const state = {
    limits,
    partitions: [], // in the order they were first seen, those that were split included
    byId: new Map(),
    splits: [],
    columns: new Map(), // step number to { cells: Map(id -> cell), backlog }
    before: null, // { wall, now, totals: Map(id -> partition) }
    latest: 0,
  };
  return {
    add: (watched, events, now, wall) => add(state, watched, events, now, wall),
    heat: (axis) => heat(state, axis),
    series: () => series(state),
    cell: (position, step) => cellAt(state, position, step),
    window: () => [windowStart(state) * STEP_SECONDS, (state.latest + 1) * STEP_SECONDS],
    get isEmpty() {
      return state.columns.size === 0;
    },
  };
}

function firstStep(state) {
  return state.latest - STEPS + 1;
}

/** A page that has just been opened shows a minute, then more and more, up to all that is kept. */
function windowStart(state) {
  const oldest = Math.min(...state.columns.keys(), state.latest - LEAST_STEPS + 1);
  return Math.max(firstStep(state), oldest);
}

function add(state, watched, events, now, wall) {
  const step = Math.floor(wall / STEP_SECONDS);
  state.latest = step;
  notePartitions(state, watched.partitions, step);
  noteSplits(state, events, wall);
  const before = state.before;
  // While a manual clock stands still, what comes is taken as that of one second.
  const elapsed = before && now > before.now ? now - before.now : 1;
  if (before) {
    const from = Math.max(Math.floor(before.wall / STEP_SECONDS) + 1, step - STEPS + 1);
    for (let column = Math.min(from, step); column <= step; column++) {
      state.columns.set(column, columnOf(watched, before.totals, elapsed));
    }
  } else state.columns.set(step, columnOf(watched, new Map(), Infinity));
  const totals = new Map(watched.partitions.map((partition) => [partition.id, partition]));
  state.before = { wall, now, totals };
  forget(state);
}

function columnOf(watched, totals, elapsed) {
  const cells = new Map();
  for (const partition of watched.partitions) {
    const past = totals.get(partition.id);
    const rate = (name) => Math.max(0, partition[name] - (past?.[name] ?? 0)) / elapsed;
    cells.set(partition.id, {
      read: rate("consumed_read"),
      write: rate("consumed_write"),
      refusedRead: rate("throttled_read"),
      refusedWrite: rate("throttled_write"),
      readTokens: partition.read_tokens,
      writeTokens: partition.write_tokens,
      bytes: partition.size_bytes,
      items: partition.items,
      waiting: partition.waiting_write,
    });
  }
  return { cells, backlog: watched.backlog?.units ?? null };
}

function notePartitions(state, partitions, step) {
  const present = new Set(partitions.map((partition) => partition.id));
  for (const partition of partitions) {
    if (state.byId.has(partition.id)) continue;
    const known = {
      partition_id: partition.id,
      low: partition.low,
      high: partition.high,
      order: state.byId.size,
      born: step,
      died: null,
    };
    state.byId.set(partition.id, known);
    state.partitions.push(known);
  }
  for (const known of state.partitions) {
    if (known.died === null && !present.has(known.partition_id)) known.died = step;
  }
}

function noteSplits(state, events, wall) {
  for (const event of events) {
    if (event.kind !== "Split" || state.splits.some((one) => one.number === event.number)) continue;
    const { number, partition_id, children, cause } = event;
    state.splits.push({ number, partition_id, children, cause, time: wall });
  }
}

function forget(state) {
  const first = firstStep(state);
  for (const column of state.columns.keys()) if (column < first) state.columns.delete(column);
  state.splits = state.splits.filter((split) => split.time >= first * STEP_SECONDS);
  state.partitions = state.partitions.filter((one) => one.died === null || one.died >= first);
  state.byId = new Map(state.partitions.map((one) => [one.partition_id, one]));
}

function heat(state, axis) {
  const { limits, partitions, columns } = state, [mostRead, mostWrite] = limits;
  const share = (read, write) => {
    if (axis === "read") return read / mostRead;
    if (axis === "write") return write / mostWrite;
    return Math.max(read / mostRead, write / mostWrite);
  };
  const load = [], throttled = [];
  for (let step = firstStep(state); step <= state.latest; step++) {
    const cells = partitions.map((one) => columns.get(step)?.cells.get(one.partition_id));
    load.push(cells.map((cell) => cell ? share(cell.read, cell.write) : null));
    throttled.push(cells.map((cell) => cell ? share(cell.refusedRead, cell.refusedWrite) : null));
  }
  const born = (one) => (one.born - firstStep(state)) * STEP_SECONDS;
  return {
    heat: {
      step_seconds: STEP_SECONDS,
      partitions: partitions.map((one) => ({ ...one, born: born(one) })),
      load,
      throttled,
    },
    splits: state.splits.map((split) => ({ ...split })),
    start: firstStep(state) * STEP_SECONDS,
  };
}

function series(state) {
  const names = ["read", "write", "refusedRead", "refusedWrite"];
  const result = { start: firstStep(state) * STEP_SECONDS, step: STEP_SECONDS, backlog: [] };
  for (const name of names) result[name] = [];
  for (let step = firstStep(state); step <= state.latest; step++) {
    const column = state.columns.get(step);
    result.backlog.push(column?.backlog ?? null);
    for (const name of names) {
      const cells = column ? [...column.cells.values()] : null;
      result[name].push(cells ? cells.reduce((sum, cell) => sum + cell[name], 0) : null);
    }
  }
  return result;
}

function cellAt(state, position, step) {
  const id = state.partitions[position]?.partition_id;
  return state.columns.get(firstStep(state) + step)?.cells.get(id) ?? null;
}
