import assert from "node:assert/strict";
import { test } from "node:test";
import { createStreamSlots } from "./stream-slots.ts";

test("all addresses of one IPv6 /64 share the limit per address", () => {
  const slots = createStreamSlots({ perKey: 9, perAddress: 2, total: 9 });
  slots.take("a", "2001:db8::1");
  const release = slots.take("b", "2001:db8:0:0:ffff::2");
  assert.throws(() => slots.take("c", "2001:db8::3"), { code: "rate_limited" });
  slots.take("c", "2001:db8:0:1::1");
  release();
  slots.take("c", "2001:db8::3");
});
