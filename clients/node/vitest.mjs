/** For vitest: `globalSetup: ["dynamometer/vitest"]`. */
export { setUp as default } from "./worker.cjs";
