import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { addressBlock } from "./address-block.ts";

test("an IPv4 address stands for itself, in IPv6 clothes too", () => {
  assert.equal(addressBlock("192.0.2.7"), "192.0.2.7");
  assert.equal(addressBlock("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(addressBlock("::FFFF:192.0.2.7"), "192.0.2.7");
});

test("an IPv6 address stands for its /64, however it is written", () => {
  for (const address of [
    "2001:db8::1",
    "2001:DB8:0:0::ffff",
    "2001:0db8:0000:0000:1:2:3:4",
    "2001:db8::1:2:3:4%eth0",
  ]) {
    assert.equal(addressBlock(address), "2001:db8:0:0");
  }
  assert.equal(addressBlock("::1"), "0:0:0:0");
  assert.equal(addressBlock("64:ff9b::192.0.2.33"), "64:ff9b:0:0");
  assert.equal(addressBlock("1:2:3:4:5:6:7::"), "1:2:3:4");
  assert.equal(addressBlock("fe80::1%eth0"), "fe80:0:0:0");
});

test("two IPv6 addresses are one exactly when the system says that they share a /64", () => {
  const group = fc.constantFrom("0", "1", "ab");
  const address = fc.array(group, { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(address, address, fc.nat(7), fc.nat(7), (a, b, from, to) => {
      const list = new BlockList();
      list.addSubnet(a.join(":"), 64, "ipv6");
      assert.equal(
        addressBlock(shortened(a, from)) === addressBlock(shortened(b, to)),
        list.check(b.join(":"), "ipv6"),
      );
    }),
  );
});

/** The zeros that begin at `from`, where there are any, left out. */
function shortened(groups: readonly string[], from: number): string {
  let until = from;
  while (groups[until] === "0") until += 1;
  if (until === from) return groups.join(":");
  return `${groups.slice(0, from).join(":")}::${groups.slice(until).join(":")}`;
}
