import { readFileSync } from "node:fs";

/** The text of `fixtures/<name>.json`. */
export function fixtureText(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8");
}

/** The parsed value of `fixtures/<name>.json`. */
export function fixture(name: string): unknown {
  return JSON.parse(fixtureText(name));
}
