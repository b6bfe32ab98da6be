import assert from "node:assert/strict";
import { test } from "node:test";
import { formToken, isFormToken, isFromSite, readSessionCookie, sessionCookie, siteOf } from "./site.ts";

const LOCAL = siteOf(null, "127.0.0.1:8787");
const PUBLIC = siteOf("https://parallax.example", "127.0.0.1:8787");

test("cookies require TLS except on loopback hosts", () => {
  for (const host of ["localhost", "localhost:8787", "127.0.0.1:1", "127.1.2.3", "[::1]:8787"])
    assert.deepEqual(siteOf(null, host), { origin: `http://${host}`, isSecure: false }, host);
  const publicHosts = ["parallax.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1:8787"];
  for (const host of [...publicHosts, "", undefined]) assert.equal(siteOf(null, host).isSecure, true, String(host));
  assert.deepEqual(PUBLIC, { origin: "https://parallax.example", isSecure: true });
  assert.equal(siteOf("http://parallax.example", "localhost").isSecure, true);
  assert.equal(siteOf("http://localhost:8787", "parallax.example").isSecure, false);
});

test("forms are accepted from this site only, and rejected without Origin and Sec-Fetch-Site", () => {
  const origin = "https://parallax.example";
  const accepted: readonly Readonly<Record<string, string>>[] = [
    { "sec-fetch-site": "same-origin", origin },
    { "sec-fetch-site": "same-origin", origin: "null" },
    { "sec-fetch-site": "same-origin" },
    { origin },
  ];
  const rejected: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin: "null" },
    { origin: "https://evil.example" },
    { origin: "http://parallax.example" },
    { origin: "https://parallax.example.evil.example" },
    { origin: `${origin}, https://evil.example` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "cross-site", origin },
    { "sec-fetch-site": "same-site", origin },
    { "sec-fetch-site": "same-origin", origin: "https://evil.example" },
    { "sec-fetch-site": "same-origin, cross-site", origin },
    { referer: `${origin}/account` },
  ];
  for (const headers of accepted) assert.equal(isFromSite(headers, PUBLIC), true, JSON.stringify(headers));
  for (const headers of rejected) assert.equal(isFromSite(headers, PUBLIC), false, JSON.stringify(headers));
});

test("the session cookie has protective attributes, and a cookie sent twice is ignored", () => {
  assert.equal(
    sessionCookie("token", PUBLIC),
    "__Host-parallax=token; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure",
  );
  assert.equal(sessionCookie("token", LOCAL), "parallax=token; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax");
  assert.match(sessionCookie(null, PUBLIC), /^__Host-parallax=; Path=\/; Max-Age=0;/);
  assert.equal(readSessionCookie({ cookie: "a=b; __Host-parallax=token; c=d" }, PUBLIC), "token");
  assert.equal(readSessionCookie({ cookie: "parallax=token" }, PUBLIC), null);
  assert.equal(readSessionCookie({ cookie: "__Host-parallax=one; __Host-parallax=two" }, PUBLIC), null);
  assert.equal(readSessionCookie({ cookie: "x__Host-parallax=one" }, PUBLIC), null);
  assert.equal(readSessionCookie({}, PUBLIC), null);
});

test("a CSRF token is valid for one session only and does not contain the session token", () => {
  assert.equal(isFormToken(formToken("one"), "one"), true);
  for (const text of [formToken("two"), "", "one", formToken("one").toUpperCase()])
    assert.equal(isFormToken(text, "one"), false, text);
  assert.doesNotMatch(formToken("one"), /one/);
});
