import assert from "node:assert/strict";
import { test } from "node:test";
import { createLibrary } from "./library.ts";

const sources = {
  api: { version: "1", tags: [], operations: [], resolve: () => ({}) },
  guides: new Map(),
  examples: new Map(),
  venues: [],
  statusOf: () => 0,
};

test("rendered pages are cached for the four newest origins", () => {
  const library = createLibrary(sources, { site: { isSandbox: true, publicUrl: null }, keep: (body) => body });
  const render = (port: number) =>
    library.find("/llms.txt", { site: { origin: `http://localhost:${port}`, key: "" }, live: null })?.body;
  const first = render(1);
  assert.match(String(first), /http:\/\/localhost:1\/docs/);
  for (const port of [2, 3, 4]) render(port);
  assert.equal(render(1), first);
  const fifth = render(5);
  assert.equal(render(5), fifth);
  assert.notEqual(render(1), first);
});
