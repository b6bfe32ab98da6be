import assert from "node:assert/strict";
import { test } from "node:test";
import { shareStructure } from "./structural-sharing.ts";

test("`shareStructure` reuses equal parts of the other object and changes neither argument", () => {
  const createListing = () => ({ venue: "alpha", fee: { kind: "none" }, keys: { yes: "1" }, closeAt: 5, url: null });
  const otherListing = Object.freeze({ ...createListing(), keys: { yes: "2" } });
  const sourceListing = createListing();
  const sharedListing = shareStructure(sourceListing, otherListing);
  assert.deepEqual(sharedListing, sourceListing);
  assert.deepEqual(sourceListing, createListing());
  assert.equal(sharedListing.fee, otherListing.fee);
  assert.equal(sharedListing.keys, sourceListing.keys);
});
