import { readFileSync } from "node:fs";

/**
 * Reads venue responses from the `fixtures/` folder beside a test file.
 * @param testFileUrl the test's `import.meta.url`
 */
export function fixtureReader(testFileUrl: string): (name: string) => unknown {
  return (name) => JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, testFileUrl), "utf8"));
}
