#!/usr/bin/env node
/** `npx dynamometer serve`: the command, with its words, its output and its exit code. */

const { spawn } = require("node:child_process");
const { command } = require("./server.cjs");

const [program, ...words] = [...command(), ...process.argv.slice(2)];
const child = spawn(program, words, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(
    `${program}: ${error.message}; pip install dynamometer, or set DYNAMOMETER`,
  );
  process.exitCode = 2;
});
child.on("exit", (code) => process.exitCode = code ?? 1);
