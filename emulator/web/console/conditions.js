/**
 * Conditions as people choose them, and the request that they mean.
 *
 *   KEY_OPERATORS, FILTER_OPERATORS     name to { words, values }: how many values it takes
 *   requestOf({ table, index, partition, sort, filters, limit, isDescending, isConsistent,
 *               projection })           -> { operation: "Query" | "Scan", request }
 *
 * A partition key that is given makes it a Query, none makes it a Scan. Names and values become
 * placeholders, so no name is reserved and no value is part of an expression.
 */

import { attributeOf } from "./values.js";

export const KEY_OPERATORS = {
  "=": { words: "is", values: 1 },
  "<": { words: "is less than", values: 1 },
  "<=": { words: "is at most", values: 1 },
  ">": { words: "is greater than", values: 1 },
  ">=": { words: "is at least", values: 1 },
  BETWEEN: { words: "is between", values: 2 },
  begins_with: { words: "begins with", values: 1 },
};

export const FILTER_OPERATORS = {
  ...KEY_OPERATORS,
  "<>": { words: "is not", values: 1 },
  contains: { words: "contains", values: 1 },
  attribute_exists: { words: "exists", values: 0 },
  attribute_not_exists: { words: "does not exist", values: 0 },
};

export function requestOf(chosen) {
  const names = new Map(), values = {};
  const nameOf = (name) => {
    if (!names.has(name)) names.set(name, `#n${names.size}`);
    return names.get(name);
  };
  const valueOf = (type, text) => {
    const placeholder = `:v${Object.keys(values).length}`;
    values[placeholder] = attributeOf(type, text);
    return placeholder;
  };
  const condition = (one) => conditionText(one, nameOf(one.name), valueOf);

  const keyed = [...chosen.partition, ...chosen.sort].filter((one) => one.isGiven);
  const isQuery = chosen.partition.length > 0 && chosen.partition.every((one) => one.isGiven);
  const request = { TableName: chosen.table };
  if (chosen.index) request.IndexName = chosen.index;
  if (isQuery) request.KeyConditionExpression = keyed.map(condition).join(" AND ");
  const filters = isQuery ? chosen.filters : [...keyed, ...chosen.filters];
  if (filters.length) request.FilterExpression = filters.map(condition).join(" AND ");
  if (chosen.projection.length) {
    request.ProjectionExpression = chosen.projection.map(nameOf).join(", ");
  }
  if (names.size) {
    request.ExpressionAttributeNames = Object.fromEntries(
      [...names].map(([name, placeholder]) => [placeholder, name]),
    );
  }
  if (Object.keys(values).length) request.ExpressionAttributeValues = values;
  if (chosen.limit) request.Limit = chosen.limit;
  if (isQuery && chosen.isDescending) request.ScanIndexForward = false;
  if (chosen.isConsistent) request.ConsistentRead = true;
  request.ReturnConsumedCapacity = "INDEXES";
  return { operation: isQuery ? "Query" : "Scan", request };
}

function conditionText({ operator, type, texts }, name, valueOf) {
  const value = (position) => valueOf(type, texts[position] ?? "");
  if (operator === "BETWEEN") return `${name} BETWEEN ${value(0)} AND ${value(1)}`;
  if (operator === "begins_with" || operator === "contains") {
    return `${operator}(${name}, ${value(0)})`;
  }
  if (operator.startsWith("attribute_")) return `${operator}(${name})`;
  return `${name} ${operator} ${value(0)}`;
}

/** An expression with its placeholders filled in, for people to read. */
export function readable(expression, request) {
  const names = request.ExpressionAttributeNames ?? {};
  const values = request.ExpressionAttributeValues ?? {};
  return expression.replace(/[#:][nv]\d+/g, (placeholder) => {
    if (placeholder in names) return names[placeholder];
    const [[type, value]] = Object.entries(values[placeholder]);
    return type === "N" ? value : JSON.stringify(value);
  });
}
