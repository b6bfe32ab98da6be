/** API keys: their form, whom they speak for, and the demo keys of a sandbox. */
export { ensureDemoKeys } from "./demo-keys.ts";
export { createKeyDirectory } from "./key-directory.ts";
export type { KeyOwner } from "./queries.ts";
