/** For jest: `globalSetup: "dynamometer/jest"`. */
const { setUp } = require("./worker.cjs");

module.exports = async () => {
  globalThis.__dynamometer__ = await setUp();
};
