import assert from "node:assert/strict";
import { test } from "node:test";
import { areMirrors, type MirrorKeys, Mirrors, mirrorKeysOf } from "./mirrors.ts";
import type { MatchableMarket } from "./model.ts";

interface Market extends MirrorKeys {
  readonly id: string;
  readonly venue: number;
}

const market = (id: string, venue: number, slugs: Pick<MatchableMarket, "slug" | "mirroredSlug">): Market => ({
  id,
  venue,
  ...mirrorKeysOf(slugs as MatchableMarket),
});
const idsOf = (markets: readonly Market[]) => markets.map(({ id }) => id);

test("a copy finds its original, and the original its copies at other venues", () => {
  const mirrors = new Mirrors<Market>();
  const original = market("original", 0, { slug: "rain" });
  const copies = [1, 2].map((venue) => market(`copy ${venue}`, venue, { mirroredSlug: "rain" }));
  const own = market("own", 0, { mirroredSlug: "rain" });
  for (const added of [...copies, own, original]) mirrors.add(added);
  assert.deepEqual(idsOf(mirrors.of(original)), ["copy 1", "copy 2"]);
  for (const copy of copies) assert.deepEqual(idsOf(mirrors.of(copy)), ["original"]);
  assert.deepEqual([areMirrors(original, own), areMirrors(own, original)], [true, true]);
  mirrors.delete(original);
  assert.deepEqual(
    copies.flatMap((copy) => mirrors.of(copy)),
    [],
  );
});

test("a copy with the same slug as its original does not replace it", () => {
  const mirrors = new Mirrors<Market>();
  const original = market("original", 0, { slug: "rain" });
  const copy = market("copy", 1, { slug: "rain", mirroredSlug: "rain" });
  for (const added of [original, copy]) mirrors.add(added);
  assert.deepEqual(idsOf(mirrors.of(copy)), ["original"]);
});

test("markets without slugs are no mirrors of each other", () => {
  const [a, b] = [market("a", 0, { slug: "" }), market("b", 1, { mirroredSlug: "" })];
  assert.equal(areMirrors(a, b), false);
  assert.equal(areMirrors(market("a", 0, {}), market("b", 1, {})), false);
});

test("of more than 16 copies of one market, the first 16 are found", () => {
  const mirrors = new Mirrors<Market>();
  const original = market("original", 0, { slug: "rain" });
  mirrors.add(original);
  for (let index = 0; index < 20; index++) mirrors.add(market(`copy ${index}`, 1, { mirroredSlug: "rain" }));
  assert.equal(mirrors.of(original).length, 16);
});
