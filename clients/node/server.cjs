/** A local DynamoDB for tests: starts the server, and asks its private routes. */

const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const { join: path } = require("node:path");
const { createInterface } = require("node:readline");

/** What runs the server: DYNAMOMETER, a file beside this one, or the command on the PATH. */
function command() {
  const words = (process.env.DYNAMOMETER ?? "").split(" ").filter(Boolean);
  if (words.length) return words;
  const file = path(__dirname, "dynamometer.pyz");
  return existsSync(file) ? ["python3", file] : ["dynamometer"];
}

/** A server that runs; `url` is what an SDK takes as its endpoint. */
class Server {
  constructor(url, child) {
    this.url = url.replace(/\/$/, "");
    this.child = child;
  }

  /** Asks a private route; `members` make it a POST. */
  async ask(route, members) {
    const body = members && JSON.stringify(members);
    const options = { method: members ? "POST" : "GET", body };
    const answer = await fetch(`${this.url}/_emulator/${route}`, options);
    const told = await answer.json();
    if (!answer.ok) throw new Error(`dynamometer: ${told.error}`);
    return told;
  }

  /** Calls an operation for a namespace, without an SDK. */
  async call(operation, request, { key = "any", region = "us-east-1" } = {}) {
    const scope = `${key}/20260101/${region}/dynamodb/aws4_request`;
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `DynamoDB_20120810.${operation}`,
      "x-amz-date": "20260101T000000Z",
      authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
    };
    const body = JSON.stringify(request);
    const answer = await fetch(this.url, { method: "POST", headers, body });
    const told = await answer.json();
    if (!answer.ok) {
      throw new Error(`${operation}: ${told.message ?? told.__type}`);
    }
    return told;
  }

  /** Counts calls for a test until `end`; with a key, those that have it. */
  begin(test, key) {
    return this.ask("tests", { begin: test, ...(key && { access_key: key }) });
  }

  /** Returns a test's record; its `failures` are what the server was told to fail tests for. */
  end(test) {
    return this.ask("tests", { end: test });
  }

  /** Deletes all data, or that of a namespace: KEY or KEY/REGION. */
  reset(namespace) {
    return this.ask("reset", namespace ? { namespace } : {});
  }

  /** Keeps the present state, and returns what `restore` takes. */
  async snapshot() {
    return (await this.ask("snapshot", {})).id;
  }

  /** Goes back to a snapshot, in all namespaces or in one. */
  restore(id, namespace) {
    return this.ask("snapshot/restore", {
      id,
      ...(namespace && { namespace }),
    });
  }

  /** Ends the server; it is rejected if a test failed by --budget or --fail-on. */
  async stop() {
    const ended = this.child &&
      new Promise((resolve) => this.child.once("exit", resolve));
    await this.ask("stop", {});
    if ((await ended) === 1) {
      throw new Error("dynamometer: tests failed, as printed above");
    }
  }
}

/** Starts a server on a free port; `options` are those of `dynamometer serve`. */
function start(...options) {
  const [program, ...words] = [
    ...command(),
    "serve",
    "--port",
    "0",
    ...options,
  ];
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    child.once(
      "error",
      (error) => reject(new Error(`${program}: ${error.message}`)),
    );
    child.once(
      "exit",
      (code) => reject(new Error(`dynamometer ended with ${code}`)),
    );
    let isReady = false;
    createInterface(child.stdout).on("line", (line) => {
      const url = /answers on (\S+)/.exec(line);
      if (isReady && !line.startsWith("console:")) console.log(line);
      if (isReady || !url) return;
      isReady = true;
      resolve(new Server(url[1], child));
    });
  });
}

/** Returns a server that runs already, by default the one that SDKs are sent to. */
function join(url = process.env.AWS_ENDPOINT_URL_DYNAMODB) {
  return new Server(url);
}

module.exports = { Server, command, join, start };
