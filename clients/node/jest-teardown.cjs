/** For jest: `globalTeardown: "dynamometer/jest-teardown"`. */
module.exports = () => globalThis.__dynamometer__();
