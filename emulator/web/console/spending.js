/**
 * Money: what was spent so far, and what a month costs if it goes on like this.
 *
 *   const pace = spendingPace();
 *   pace.add(answer.spending, answer.now)
 *   pace.of(namespace, table)   -> { usd, month, readUnits, writeUnits, throttles }, all arms together
 *   pace.all()                  -> rows of tables, and pace.total()
 */

const MONTH_HOURS = 730;
const WINDOW_SECONDS = 60;

export function spendingPace() {
  const state = { samples: [] };
  return {
    add(rows, now) {
      const last = state.samples.at(-1);
      if (last && now < last.now) state.samples = [];
      state.samples.push({ now, rows });
      while (state.samples.length > 2 && state.samples[1].now <= now - WINDOW_SECONDS) {
        state.samples.shift();
      }
    },
    of: (namespace, table) =>
      summed(state, (row) => row.namespace === namespace && row.table === table),
    total: () => summed(state, () => true),
    rows: () => state.samples.at(-1)?.rows ?? [],
  };
}

function summed(state, isMeant) {
  const last = state.samples.at(-1), first = state.samples[0];
  const rows = last ? last.rows.filter(isMeant) : [];
  const elapsed = last ? last.now - first.now : 0;
  const sum = { usd: 0, month: null, readUnits: 0, writeUnits: 0, throttles: {}, isPaced: false };
  let hourly = 0, perSecond = 0;
  for (const row of rows) {
    sum.usd += row.usd;
    sum.readUnits += row.read_units;
    sum.writeUnits += row.write_units;
    for (const [reason, times] of Object.entries(row.throttles)) {
      sum.throttles[reason] = (sum.throttles[reason] ?? 0) + times;
    }
    hourly += row.usd_hour;
    const before = first.rows.find((one) => isSame(one, row));
    if (elapsed > 0) {
      const reads = Math.max(0, row.read_units - (before?.read_units ?? 0));
      const writes = Math.max(0, row.write_units - (before?.write_units ?? 0));
      perSecond += (reads * row.usd_read_unit + writes * row.usd_write_unit) / elapsed;
    }
  }
  if (elapsed > 0 || hourly > 0) sum.month = (hourly + perSecond * 3600) * MONTH_HOURS;
  sum.isPaced = elapsed > 0;
  return sum;
}

function isSame(one, other) {
  return one.namespace === other.namespace && one.table === other.table &&
    one.index === other.index;
}

/** Small amounts keep their digits: an afternoon of a developer costs less than a cent. */
export function dollarsExactly(amount) {
  if (amount === 0) return "$0";
  if (amount >= 100) return `$${Math.round(amount).toLocaleString("en-US")}`;
  if (amount >= 0.01) return `$${amount.toFixed(2)}`;
  return `$${Number(amount.toPrecision(2)).toFixed(12).replace(/0+$/, "")}`;
}
