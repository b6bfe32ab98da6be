import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import type { Operation } from "./model.ts";
import { buildTarget, writeSample } from "./samples.ts";

const run = promisify(execFile);
const operation = {
  method: "POST",
  path: "/v1/things/{name}",
  needsKey: true,
  body: { isRequired: true, schema: {} },
  success: { contentType: "application/json" },
} as Operation;
const HOSTILE = `a'b"c$(id)\`id\`\\ é\n\${x}#?&/..`;
const request = {
  path: { name: HOSTILE },
  query: { q: HOSTILE },
  body: { text: HOSTILE, none: null, yes: true, list: [1] },
};
const site = { origin: "http://127.0.0.1:1", key: "plx_free_key" };

test("path and query values are percent-encoded", () => {
  const target = new URL(buildTarget(operation, request), site.origin);
  assert.equal(target.searchParams.get("q"), HOSTILE);
  assert.equal(decodeURIComponent(target.pathname.split("/")[3] ?? ""), HOSTILE);
  assert.equal(target.pathname.split("/").length, 4);
});

test("the curl sample passes any value to curl unchanged", async () => {
  const sample = writeSample("curl", operation, request, site);
  const printArguments = "printf '%s\\0' \"$@\"";
  const { stdout } = await run("sh", ["-c", `curl() { ${printArguments}; }\n${sample}`]);
  const words = stdout.split("\0");
  assert.deepEqual(words.slice(0, 2), ["-X", "POST"]);
  assert.equal(words[2], `${site.origin}${buildTarget(operation, request)}`);
  assert.deepEqual(JSON.parse(words[words.indexOf("-d") + 1] ?? ""), request.body);
  assert.ok(words.includes("Authorization: Bearer plx_free_key"));
});

test("the TypeScript sample passes any value unchanged", async () => {
  const sample = writeSample("typescript", operation, request, site);
  const fetchStub =
    "const fetch = async (url, init) => { console.log(JSON.stringify({ url, ...init })); return { ok: true, json: async () => ({}) }; };\n";
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", fetchStub + sample]);
  const call = JSON.parse(stdout.split("\n")[0] ?? "");
  assert.equal(call.url, `${site.origin}${buildTarget(operation, request)}`);
  assert.deepEqual(JSON.parse(call.body), request.body);
});
