import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { checkKeys } from "./key-check.ts";
import { StreamClient } from "./stream-client.ts";

const openClient = (keyId: string) =>
  new StreamClient(
    {} as Socket,
    {
      caller: keyId,
      key: { keyId, plan: "free" },
      address: "a",
      lastEventId: null,
      filter: { types: 1, markets: null },
    },
    0,
    () => 0,
  );

test("the plans of at most 1,000 keys are read at a time, and each key once", async () => {
  const clients = Array.from({ length: 5_000 }, (_, index) => openClient(`key-${index % 2_500}`));
  const sizes: number[] = [];
  const ended: StreamClient[] = [];
  const readPlans = async (keyIds: readonly string[]) => {
    sizes.push(keyIds.length);
    return new Map(keyIds.filter((id) => id !== "key-2000").map((id) => [id, "free"] as const));
  };
  await checkKeys(clients, readPlans, (client) => ended.push(client));
  assert.deepEqual(sizes, [1_000, 1_000, 500]);
  assert.deepEqual(ended, [clients[2_000], clients[4_500]]);
});
