/** API keys: their form, whom they speak for, and the demo keys of a sandbox. */
export { DEMO_CUSTOMER_IDS, type DemoKeys, ensureDemoKeys } from "./demo-keys.ts";
export { createKeyDirectory, type KeyDirectory } from "./key-directory.ts";
export { createKey, type NewKey, type ParsedKey, type Plan, parseKey, randomBase32 } from "./key-format.ts";
export { type KeyOwner, replaceKey } from "./queries.ts";
