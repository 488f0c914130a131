/** For vitest: `setupFiles: ["dynamometer/vitest-each"]`. */
import { afterEach, beforeEach, expect } from "vitest";
import { worker } from "./worker.cjs";

const steps = worker();
beforeEach(() => steps.beforeEach(expect.getState().currentTestName));
afterEach(() => steps.afterEach());
