/**
 * What throttled, in words: what a reason means, as the server says it, and what helps.
 *
 *   learnWords({ KeyRangeThroughputExceeded: "one partition is full", ... })
 *   reasonWords("TableWriteKeyRangeThroughputExceeded") -> "one partition is full"
 *   remedyFor("TableWriteKeyRangeThroughputExceeded")
 */

const REMEDIES = {
  ProvisionedThroughputExceeded: "more provisioned units, or on demand",
  KeyRangeThroughputExceeded: "spreading the hot key over several; more capacity does not help",
  MaxOnDemandThroughputExceeded: "a higher maximum, or none",
  AccountLimitExceeded: "a higher quota",
};
let words = {};

export function learnWords(told) {
  words = told;
}

function limitOf(reason) {
  return reason.replace(/^(?:Table|Index)(?:Read|Write)/, "");
}

export function reasonWords(reason) {
  return words[limitOf(reason)] ?? reason;
}

export function remedyFor(reason) {
  return REMEDIES[limitOf(reason)] ?? "";
}
