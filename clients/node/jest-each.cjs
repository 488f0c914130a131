/** For jest: `setupFilesAfterEnv: ["dynamometer/jest-each"]`. */
/* global beforeEach, afterEach, expect */
const { worker } = require("./worker.cjs");

const steps = worker();
beforeEach(() => steps.beforeEach(expect.getState().currentTestName));
afterEach(() => steps.afterEach());
