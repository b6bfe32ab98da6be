import assert from "node:assert/strict";
import { test } from "node:test";
import { createCheckWebhookUrl } from "./webhook-url.ts";

const check = createCheckWebhookUrl({ allowsLoopback: false });
const checkInSandbox = createCheckWebhookUrl({ allowsLoopback: true });

function problemOf(url: string, checkUrl = check): string | null {
  const result = checkUrl(url);
  return result.kind === "valid" ? null : result.problem;
}

test("accepts https on port 443 and 8443 and returns the normalised URL without its fragment", () => {
  for (const [text, url] of [
    ["https://hooks.example/in?a=1#part", "https://hooks.example/in?a=1"],
    ["HTTPS://Hooks.Example:443", "https://hooks.example/"],
    ["https://hooks.example:8443/in", "https://hooks.example:8443/in"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["https://93.184.215.14/in", "https://93.184.215.14/in"],
    ["https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/"],
  ] as const)
    assert.deepEqual(check(text), { kind: "valid", url });
});

test("the error of a refused URL states the problem", () => {
  for (const [url, problem] of [
    ["not a url", /space/],
    ["hooks.example/in", /not a valid URL/],
    ["https://hooks.example/a\tb", /control character/],
    ["https:\\\\hooks.example", /backslash/],
    ["http://hooks.example/", /begin with https/],
    ["ftp://hooks.example/", /begin with https/],
    ["javascript:alert(1)", /begin with https/],
    ["https://user@hooks.example/", /user name/],
    ["https://:secret@hooks.example/", /user name/],
    ["https://hooks.example:22/", /port must be 443 or 8443/],
    ["https://hooks.example:80/", /port must be/],
    ["https://hooks.example./", /end with a dot/],
    ["https://localhost/", /not a public domain/],
    ["https://LOCALHOST./", /end with a dot/],
    ["https://api.localhost/", /not a public domain/],
    ["https://metadata.google.internal/", /not a public domain/],
    ["https://printer.local/", /not a public domain/],
    ["https://router.home.arpa/", /not a public domain/],
    ["https://intranet/", /not a public domain/],
    ["https://127.0.0.1/", /not a public address/],
    ["https://2130706433/", /not a public address/],
    ["https://[::1]/", /not a public address/],
    [`https://hooks.example/${"a".repeat(2_100)}`, /longer than 2048/],
    [`https://hooks.example/${"é".repeat(400)}`, /longer than 2048/],
  ] as const)
    assert.match(problemOf(url) ?? "no problem", problem, url);
});

test("accepts http and any port on loopback only if loopback is allowed, and still refuses private addresses", () => {
  for (const url of [
    "http://127.0.0.1:9000/",
    "http://localhost:80/",
    "http://[::1]:9000/a",
    "https://localhost:9443/",
  ]) {
    assert.equal(problemOf(url, checkInSandbox), null, url);
    assert.notEqual(problemOf(url), null, url);
  }
  for (const url of [
    "http://hooks.example/",
    "http://10.0.0.1/",
    "https://10.0.0.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://api.localhost/",
    "http://user@localhost/",
    "http://localhost:0/",
  ])
    assert.notEqual(problemOf(url, checkInSandbox), null, url);
});
