import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { normaliseIpAddress, rateLimitedPrefixes, rateLimitPrefix } from "./ip-prefix.ts";

test("the block of an IPv4 address is the address itself, for IPv4-mapped IPv6 addresses too", () => {
  assert.equal(rateLimitPrefix("192.0.2.7"), "192.0.2.7");
  assert.equal(rateLimitPrefix("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(rateLimitPrefix("::FFFF:192.0.2.7"), "192.0.2.7");
  assert.equal(rateLimitPrefix("::ffff:c000:207"), "192.0.2.7");
  assert.equal(rateLimitPrefix("0:0:0:0:0:ffff:c000:0207"), "192.0.2.7");
});

test("the block does not depend on the port, brackets or zone of the address", () => {
  for (const port of [1, 443, 50_123, 65_535]) {
    assert.equal(rateLimitPrefix(`203.0.113.7:${port}`), "203.0.113.7");
    assert.equal(rateLimitPrefix(`[2001:db8::1]:${port}`), "2001:db8:0:0");
    assert.equal(rateLimitPrefix(`[::ffff:203.0.113.7]:${port}`), "203.0.113.7");
  }
  assert.equal(rateLimitPrefix("[2001:db8::1%eth0]"), "2001:db8:0:0");
});

test("all invalid texts have the block `unknown`", () => {
  for (const text of [
    ...["", "unknown", "_hidden", "256.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4:", "1.2.3.4:x", "0x7f.1"],
    ...["::1]/x", "[::1", "1:2:3", "g::1", "::1::2", "[1.2.3.4]", "localhost", "2001:db8::1/64", "%eth0"],
  ]) {
    assert.equal(normaliseIpAddress(text), null, text);
    assert.equal(rateLimitPrefix(text), "unknown", text);
  }
});

test("normalises every address that `node:net` accepts without changing its value", () => {
  const part = fc.constantFrom("0", "1", "ffff", "255", "256", ":", "::", ".", "1.2.3.4", "%0", "g", "");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      const plain = normaliseIpAddress(text);
      const family = isIP(text);
      if (family === 4) assert.equal(plain, text);
      if (family === 0) return;
      assert.ok(plain !== null);
      const list = new BlockList();
      list.addAddress(plain, isIP(plain) === 4 ? "ipv4" : "ipv6");
      assert.ok(list.check(text.split("%")[0] ?? "", family === 4 ? "ipv4" : "ipv6"), text);
    }),
    { numRuns: 2_000 },
  );
});

test("returns the /64 of an IPv6 address in any notation", () => {
  for (const address of [
    "2001:db8::1",
    "2001:DB8:0:0::ffff",
    "2001:0db8:0000:0000:1:2:3:4",
    "2001:db8::1:2:3:4%eth0",
  ]) {
    assert.equal(rateLimitPrefix(address), "2001:db8:0:0");
  }
  assert.equal(rateLimitPrefix("::1"), "0:0:0:0");
  assert.equal(rateLimitPrefix("64:ff9b::192.0.2.33"), "64:ff9b:0:0");
  assert.equal(rateLimitPrefix("1:2:3:4:5:6:7::"), "1:2:3:4");
  assert.equal(rateLimitPrefix("fe80::1%eth0"), "fe80:0:0:0");
});

test("an IPv6 address has the limit of its /64 and four times the limit for its /48; an IPv4 address has one limit", () => {
  assert.deepEqual(rateLimitedPrefixes("2001:DB8:1:2::7"), [
    { block: "2001:db8:1:2", factor: 1 },
    { block: "2001:db8:1::/48", factor: 4 },
  ]);
  assert.deepEqual(rateLimitedPrefixes("2001:db8:1:3::1")[1], rateLimitedPrefixes("2001:db8:1:2::7")[1]);
  assert.notDeepEqual(rateLimitedPrefixes("2001:db8:2:2::1")[1], rateLimitedPrefixes("2001:db8:1:2::7")[1]);
  for (const address of ["192.0.2.7", "::ffff:192.0.2.7"])
    assert.deepEqual(rateLimitedPrefixes(address), [{ block: "192.0.2.7", factor: 1 }]);
  assert.deepEqual(rateLimitedPrefixes("unknown"), [{ block: "unknown", factor: 1 }]);
});

test("two IPv6 addresses have the same block if and only if they share a /64", () => {
  const group = fc.constantFrom("0", "1", "ab");
  const address = fc.array(group, { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(address, address, fc.nat(7), fc.nat(7), (a, b, from, to) => {
      const list = new BlockList();
      list.addSubnet(a.join(":"), 64, "ipv6");
      assert.equal(
        rateLimitPrefix(compressZeroGroups(a, from)) === rateLimitPrefix(compressZeroGroups(b, to)),
        list.check(b.join(":"), "ipv6"),
      );
    }),
  );
});

/** Writes an IPv6 address with `::` in place of the zero groups that start at `from`, if any. */
function compressZeroGroups(groups: readonly string[], from: number): string {
  let until = from;
  while (groups[until] === "0") until += 1;
  if (until === from) return groups.join(":");
  return `${groups.slice(0, from).join(":")}::${groups.slice(until).join(":")}`;
}
