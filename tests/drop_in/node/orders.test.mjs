// A project's tests, as vitest and jest run them: one of them scans, and fails for that.
import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";

const client = new DynamoDBClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
const key = { pk: { S: "a" } };

test("puts", async () => {
  await client.send(new PutItemCommand({ TableName: "orders", Item: key }));
});

test("starts with empty tables", async () => {
  const { Item } = await client.send(new GetItemCommand({ TableName: "orders", Key: key }));
  expect(Item).toBeUndefined();
});

test("scans", async () => {
  await client.send(new ScanCommand({ TableName: "orders" }));
});
