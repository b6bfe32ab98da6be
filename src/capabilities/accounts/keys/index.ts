/** API keys: format, look-up, last use, and the demo keys of a sandbox. Also the tokens of links and sessions. */
export { createKeyAuthenticator } from "./authenticator.ts";
export { type DemoKeys, ensureDemoKeys } from "./demo-keys.ts";
export { createKeyDirectory, KEYS_TOPIC, type KeyDirectory } from "./key-directory.ts";
export { createKey } from "./key-format.ts";
export { createKeyUsage } from "./key-usage.ts";
export { createLookUpQueue } from "./look-up-queue.ts";
export { findActivePlans, insertKey } from "./queries.ts";
export { createToken, hashToken, isToken } from "./tokens.ts";
