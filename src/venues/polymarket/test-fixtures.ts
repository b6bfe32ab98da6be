import { readFileSync } from "node:fs";

/** A reply kept in `fixtures/`, parsed; for tests. */
export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
}

/** A drop counter that remembers. */
export function countDrops() {
  const drops: Record<string, number> = {};
  return {
    drops,
    drop: (reason: string, count = 1) => {
      drops[reason] = (drops[reason] ?? 0) + count;
    },
  };
}
