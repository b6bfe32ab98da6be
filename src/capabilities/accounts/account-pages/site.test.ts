import assert from "node:assert/strict";
import { test } from "node:test";
import { isFromSite, resolveSite } from "../../../http/html/site.ts";
import { createFormToken, createSessionCookie, isValidFormToken, readSessionCookie } from "./site.ts";

const LOCAL_SITE = resolveSite(null, "127.0.0.1:8787");
const PUBLIC_SITE = resolveSite("https://parallax.example", "127.0.0.1:8787");

test("cookies require TLS unless the host is loopback", () => {
  for (const host of ["localhost", "localhost:8787", "127.0.0.1:1", "127.1.2.3", "[::1]:8787"])
    assert.deepEqual(resolveSite(null, host), { origin: `http://${host}`, isSecure: false }, host);
  const publicHosts = ["parallax.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1:8787"];
  for (const host of [...publicHosts, "", undefined])
    assert.equal(resolveSite(null, host).isSecure, true, String(host));
  assert.deepEqual(PUBLIC_SITE, { origin: "https://parallax.example", isSecure: true });
  assert.equal(resolveSite("http://parallax.example", "localhost").isSecure, true);
  assert.equal(resolveSite("http://localhost:8787", "parallax.example").isSecure, false);
});

test("a form is accepted only if `Origin` or `Sec-Fetch-Site` shows that this site submitted it", () => {
  const origin = "https://parallax.example";
  const acceptedHeaders: readonly Readonly<Record<string, string>>[] = [
    { "sec-fetch-site": "same-origin", origin },
    { "sec-fetch-site": "same-origin", origin: "null" },
    { "sec-fetch-site": "same-origin" },
    { origin },
  ];
  const rejectedHeaders: readonly Readonly<Record<string, string>>[] = [
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
  for (const headers of acceptedHeaders) assert.equal(isFromSite(headers, PUBLIC_SITE), true, JSON.stringify(headers));
  for (const headers of rejectedHeaders) assert.equal(isFromSite(headers, PUBLIC_SITE), false, JSON.stringify(headers));
});

test("the session cookie is HttpOnly, SameSite and Secure, and a cookie sent twice is ignored", () => {
  assert.equal(
    createSessionCookie("token", PUBLIC_SITE),
    "__Host-parallax=token; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure",
  );
  assert.equal(
    createSessionCookie("token", LOCAL_SITE),
    "parallax=token; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax",
  );
  assert.match(createSessionCookie(null, PUBLIC_SITE), /^__Host-parallax=; Path=\/; Max-Age=0;/);
  assert.equal(readSessionCookie({ cookie: "a=b; __Host-parallax=token; c=d" }, PUBLIC_SITE), "token");
  assert.equal(readSessionCookie({ cookie: "parallax=token" }, PUBLIC_SITE), null);
  assert.equal(readSessionCookie({ cookie: "__Host-parallax=one; __Host-parallax=two" }, PUBLIC_SITE), null);
  assert.equal(readSessionCookie({ cookie: "x__Host-parallax=one" }, PUBLIC_SITE), null);
  assert.equal(readSessionCookie({}, PUBLIC_SITE), null);
});

test("a CSRF token is valid only for its session and does not contain the session token", () => {
  assert.equal(isValidFormToken(createFormToken("one"), "one"), true);
  for (const text of [createFormToken("two"), "", "one", createFormToken("one").toUpperCase()])
    assert.equal(isValidFormToken(text, "one"), false, text);
  assert.doesNotMatch(createFormToken("one"), /one/);
});
