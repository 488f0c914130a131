/**
 * Starts `dynamometer serve` in the background of a job, waits until it answers and sends SDKs to it;
 * at the end of the job stops it, prints its summary and fails with it. The runner calls this file
 * twice; in between a third process holds the server, to know its exit code.
 */

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const { RUNNER_TEMP, GITHUB_ENV, GITHUB_STATE, STATE_isLast, STATE_url: url } = process.env;
const LOG = path.join(RUNNER_TEMP, "dynamometer-serve.log");
const CODE = path.join(RUNNER_TEMP, "dynamometer-serve.code");
const HOLD = "hold";

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

/** Waits for what `look` finds, or for the server to end. */
async function until(look) {
  for (;;) {
    const found = look();
    if (found || fs.existsSync(CODE)) return found;
    await pause();
  }
}

function hold() {
  const folder = path.join(RUNNER_TEMP, "dynamometer");
  const program = process.platform === "win32" ? "Scripts/dynamometer.exe" : "bin/dynamometer";
  const words = (process.env.INPUT_ARGUMENTS ?? "").split(/\s+/).filter(Boolean);
  const log = fs.openSync(LOG, "w");
  const server = spawn(path.join(folder, program), ["serve", "--port", "0", ...words], {
    stdio: ["ignore", log, log],
  });
  const end = (code) => fs.writeFileSync(CODE, String(code ?? 1));
  server.on("error", (error) => (fs.writeSync(log, `${error.message}\n`), end(2)));
  server.on("exit", end);
}

async function start() {
  fs.appendFileSync(GITHUB_STATE, "isLast=true\n");
  fs.rmSync(CODE, { force: true });
  fs.writeFileSync(LOG, "");
  spawn(process.execPath, [__filename, HOLD], { detached: true, stdio: "ignore" }).unref();
  const line = await until(() => /answers on (\S+)/.exec(fs.readFileSync(LOG, "utf8")));
  if (!line) {
    console.log(`::error::${fs.readFileSync(LOG, "utf8").trim()}`);
    process.exitCode = 1;
    return;
  }
  fs.appendFileSync(GITHUB_ENV, `AWS_ENDPOINT_URL_DYNAMODB=${line[1]}\n`);
  fs.appendFileSync(GITHUB_STATE, `url=${line[1]}\n`);
  console.log(`dynamometer answers on ${line[1]}`);
}

async function stop() {
  if (!url) return; // it never answered, and said so
  await fetch(`${url}/_emulator/stop`, { method: "POST" }).catch(() => {}); // it may have ended
  await until(() => false);
  console.log(fs.readFileSync(LOG, "utf8"));
  process.exitCode = Number(fs.readFileSync(CODE, "utf8"));
  if (process.exitCode) console.log("::error::tests failed by what they asked of DynamoDB");
}

if (process.argv[2] === HOLD) hold();
else if (STATE_isLast) stop();
else start();
