/**
 * Keys of tables and indexes, as DescribeTable describes them.
 *
 *   keyOf(description, "byStatus")   -> { partition: [{ name, type }], sort: [...], kind }
 *   indexesOf(description)           -> [{ name, kind: "global" | "local", ... }]
 *   keyOfItem(description, item)     -> the item's primary key
 */

export function indexesOf(description) {
  const kinds = [["GlobalSecondaryIndexes", "global"], ["LocalSecondaryIndexes", "local"]];
  return kinds.flatMap(([member, kind]) =>
    (description[member] ?? []).map((index) => ({ ...index, name: index.IndexName, kind }))
  );
}

export function keyOf(description, indexName = null) {
  const types = new Map(
    description.AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType]),
  );
  const index = indexesOf(description).find((one) => one.name === indexName);
  const elements = (index ?? description).KeySchema.map((element) => ({
    name: element.AttributeName,
    type: types.get(element.AttributeName),
    kind: element.KeyType,
  }));
  return {
    partition: elements.filter((element) => element.kind === "HASH"),
    sort: elements.filter((element) => element.kind === "RANGE"),
    kind: index?.kind ?? "table",
  };
}

export function keyOfItem(description, item) {
  const { partition, sort } = keyOf(description);
  return Object.fromEntries([...partition, ...sort].map(({ name }) => [name, item[name]]));
}

/** The attributes of a key as one text: customer (S), created (S). */
export function keyText({ partition, sort }) {
  return [...partition, ...sort].map(({ name, type }) => `${name} (${type})`).join(", ");
}

export function isOnDemand(description) {
  return description.BillingModeSummary?.BillingMode === "PAY_PER_REQUEST";
}

/** How a table or index is paid for: "on demand", or its provisioned units. */
export function capacityText(description, resource = description) {
  if (isOnDemand(description)) {
    const { MaxReadRequestUnits: read = -1, MaxWriteRequestUnits: write = -1 } =
      resource.OnDemandThroughput ?? {};
    const maxima = [[read, "read"], [write, "write"]].filter(([units]) => units > 0);
    if (!maxima.length) return "on demand";
    return `on demand, at most ${maxima.map(([units, name]) => `${units} ${name}`).join(" and ")}`;
  }
  const { ReadCapacityUnits: read, WriteCapacityUnits: write } = resource.ProvisionedThroughput;
  return `provisioned ${read} read, ${write} write`;
}
