import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "./guarded-address.ts";

/** First and last address of each range. */
const FORBIDDEN: readonly (readonly [first: string, last: string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "239.255.255.255"],
  ["240.0.0.0", "255.255.255.255"],
  ["::", "::1"],
  ["::7f00:1", "::ffff:ffff"],
  ["::ffff:0:7f00:1", "::ffff:0:ffff:ffff"],
  ["64:ff9b::", "64:ff9b::ffff:ffff"],
  ["64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["100::", "100::ffff:ffff:ffff:ffff"],
  ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:2::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

const PUBLIC = [
  ...["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
  ...[
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
  ],
  ...["2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:2800:21f:cb07::1", "3fff:1000::1", "2a00::1"],
];

test("refuses the first and last address of every range that is not public, also IPv4-mapped and with a zone", () => {
  for (const address of FORBIDDEN.flat()) {
    const forms = address.includes(":")
      ? [address, address.toUpperCase(), `[${address}]`, `${address}%eth0`, `[${address}%25lo]`]
      : [address, `::ffff:${address}`, `[::FFFF:${address}]`];
    for (const form of forms) assert.equal(isPublicAddress(form), false, form);
  }
});

test("accepts public addresses next to the forbidden ranges", () => {
  for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address);
  assert.equal(isPublicAddress("::ffff:1.1.1.1"), true);
});

test("text that is not an address is not public", () => {
  for (const text of [
    "",
    "localhost",
    "1.1.1",
    "0x7f.1",
    "2130706433",
    "1.1.1.1.",
    "::g",
    "1.1.1.256",
    "hooks.example",
  ])
    assert.equal(isPublicAddress(text), false, text);
});
