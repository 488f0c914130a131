/**
 * How numbers are said, as emulator/lab/outcome/words.py says them; a browser test holds both to
 * the same answers. All take a number and return a text with a narrow no-break space before units.
 *
 *   significant(1234.5) "1,234"     count(3.6e9) "3.6 B"       percent(0.0123) "1.23 %"
 *   dollars(12.345) "$12.35"        duration(200) "3 min 20 s" bytes(2048) "2 KB"
 *   multiple(3.456) "3.46×"         clock(3725) "1:02:05"
 */

export const SPACE = "\u202f";
export const NONE = "\u2013";
const TIMES = "\u00d7";

export function significant(value, digits = 3) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 10 ** (digits - 1)) return withCommas(halfEven(value));
  return trimmed(Number(value.toPrecision(digits)).toFixed(10));
}

function withCommas(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

function halfEven(value) {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

function trimmed(text) {
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

export function count(value) {
  if (Math.abs(value) < 10_000) return significant(value);
  const sizes = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]];
  const [size, suffix] = sizes.find(([size]) => Math.abs(value) >= size * 0.9995);
  return `${significant(value / size)}${SPACE}${suffix}`;
}

export function percent(share) {
  let text;
  if (share > 0 && share < 0.00001) text = "<0.001";
  else if (share > 0.9999 && share < 1) text = ">99.99";
  else if (share < 0.01) text = significant(share * 100, 2);
  else if (share >= 1) text = share === 1 ? "100" : significant(share * 100);
  else text = trimmed((share * 100).toFixed(share < 0.1 || share > 0.999 ? 2 : 1));
  return `${text}${SPACE}%`;
}

export function dollars(amount) {
  if (amount === 0) return "$0";
  if (amount > 0 && amount < 0.01) return "<$0.01";
  if (amount >= 100) return `$${withCommas(halfEven(amount))}`;
  return `$${amount.toFixed(2)}`;
}

export function duration(seconds) {
  if (seconds < 1e-6) return `0${SPACE}s`;
  if (seconds < 0.9995) return `${significant(seconds * 1000, 2)}${SPACE}ms`;
  if (seconds < 59.95) return `${significant(seconds)}${SPACE}s`;
  const pairs = [[86_400, 3600, "d", "h"], [3600, 60, "h", "min"], [60, 1, "min", "s"]];
  for (const [large, small, name, part] of pairs) {
    const units = halfEven(seconds / small), whole = Math.floor(units / (large / small));
    const rest = units % (large / small);
    if (whole) return `${whole}${SPACE}${name}${rest ? `${SPACE}${rest}${SPACE}${part}` : ""}`;
  }
  return `0${SPACE}s`;
}

export function bytes(size) {
  const sizes = [[1024 ** 4, "TB"], [1024 ** 3, "GB"], [1024 ** 2, "MB"], [1024, "KB"]];
  const [unit, suffix] = sizes.find(([unit]) => size >= unit) ?? [1, "B"];
  return `${significant(size / unit)}${SPACE}${suffix}`;
}

export function multiple(value, atLeast = false) {
  return `${atLeast ? "≥ " : ""}${significant(value)}${TIMES}`;
}

/** A moment of a run as hours, minutes and seconds. */
export function clock(seconds) {
  const whole = Math.round(seconds), two = (number) => String(number).padStart(2, "0");
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
