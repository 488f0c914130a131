/**
 * Scales: where a value lies along an axis, and which values are worth a mark.
 *
 *   const x = linear(0, 100, 40, 540, { most: 5 });  x(50) -> 290;  x.ticks -> [0, 20, ...]
 *   fromZero(high, start, end), overTime(from, to, start, end), ratio(low, high, start, end, base)
 */

const NICE = [1, 2, 2.5, 5, 10];
const NICE_SECONDS = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200],
  86_400,
];

function niceStep(span, most) {
  const rough = span / most, power = 10 ** Math.floor(Math.log10(rough));
  return NICE.find((nice) => nice * power >= rough * (1 - 1e-9)) * power;
}

function multiples(low, high, step) {
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => (first + index) * step,
  );
}

export function linear(low, high, start, end, { most = 4, step = null } = {}) {
  const span = high - low || 1;
  const scale = (value) => start + (value - low) / span * (end - start);
  return Object.assign(scale, {
    low,
    high,
    ticks: multiples(low, high, step ?? niceStep(span, most)),
    invert: (position) => low + (position - start) / (end - start) * span,
  });
}

/** From zero to a round number that is not below `high`. */
export function fromZero(high, start, end, most = 4) {
  const step = niceStep(high || 1, most);
  return linear(0, Math.ceil((high || 1) / step - 1e-9) * step, start, end, { step });
}

/** Over seconds, with marks at round times. */
export function overTime(from, to, start, end, most = 8) {
  const span = to - from || 1;
  const step = NICE_SECONDS.find((step) => span / step <= most) ??
    Math.ceil(span / most / 86_400) * 86_400;
  return linear(from, to, start, end, { step: span < 2 ? niceStep(span, most) : step });
}

/** Equal steps for equal ratios; what is below the low end lies on it. */
export function ratio(low, high, start, end, base = 10) {
  const span = Math.log(high / low) || 1;
  const scale = (value) => start + Math.log(Math.max(value, low) / low) / span * (end - start);
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  const ticks = Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, i) => base ** (first + i),
  );
  return Object.assign(scale, { low, high, ticks });
}
