/**
 * What vitest and jest share. `dynamometer.json` in the project says `tables`, CreateTable requests
 * that every test starts with, and `options` of `dynamometer serve`. Each worker has an access key,
 * and with it a database, of its own.
 */

const { existsSync, readFileSync } = require("node:fs");
const { join, start } = require("./server.cjs");

const FILE = "dynamometer.json";

function configured() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {};
}

/** Starts the server for all workers. */
async function setUp() {
  const server = await start(...(configured().options ?? []));
  process.env.AWS_ENDPOINT_URL_DYNAMODB = server.url;
  return () => server.stop();
}

/** Returns what to do before all tests of a file, before each and after each. */
function worker() {
  const key = `worker-${process.env.VITEST_POOL_ID ?? process.env.JEST_WORKER_ID ?? 1}`;
  const region = process.env.AWS_REGION ??= "us-east-1";
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: key,
    AWS_SECRET_ACCESS_KEY: "any",
  });
  const server = join();
  let begun;
  return {
    async beforeEach(test) {
      await server.reset(key).catch((error) => {
        if (!/no namespace/.test(error.message)) throw error; // else there is nothing yet
      });
      for (const table of configured().tables ?? []) {
        await server.call("CreateTable", table, { key, region });
      }
      await server.begin(begun = test, key);
    },
    async afterEach() {
      const { failures } = await server.end(begun);
      if (failures.length) throw new Error(failures.join("\n\n"));
    },
  };
}

module.exports = { setUp, worker };
