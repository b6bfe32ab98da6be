import assert from "node:assert/strict";
import { test } from "node:test";
import { ASSET } from "../../../../test/support/customers/payment-ledger.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { ScriptedHttp, type ScriptedResponse } from "../../../../test/support/venues/scripted-http.ts";
import { findConfigurationErrors } from "./startup-check.ts";

const KIND = { x402Version: 2, scheme: "exact", network: ASSET.network };
const json = (value: unknown): ScriptedResponse => ({ body: JSON.stringify(value) });
const result = (value: string) => json({ jsonrpc: "2.0", id: 1, result: value });
const VALID = {
  supported: json({ kinds: [KIND] }),
  chain: result("0x14a34"),
  decimals: result(`0x${"6".padStart(64, "0")}`),
};

async function check(changes: Partial<Record<keyof typeof VALID, ScriptedResponse | Error>>) {
  const responses = { ...VALID, ...changes };
  const clock = new FakeClock();
  const http = new ScriptedHttp(clock, ({ url, body = "" }) => {
    if (url.endsWith("/supported")) return responses.supported;
    return body.includes("eth_chainId") ? responses.chain : responses.decimals;
  });
  const urls = { facilitatorUrl: "https://facilitator.example", rpcUrl: "https://rpc.example" };
  const warnings = findConfigurationErrors({ http, asset: ASSET, facilitatorToken: "token", ...urls });
  await clock.advance(6_000);
  return warnings;
}

test("returns no warning for a correct configuration", async () => {
  assert.deepEqual(await check({}), []);
});

test("the warning for a wrong facilitator network, chain or token names the wrong setting", async () => {
  const other = json({
    kinds: [
      { ...KIND, network: "eip155:1" },
      { ...KIND, x402Version: 1 },
    ],
  });
  assert.match((await check({ supported: other })).join(), /^PARALLAX_X402_FACILITATOR_URL: .*eip155:84532$/);
  assert.match((await check({ chain: result("0x2105") })).join(), /^PARALLAX_X402_RPC_URL: .*8453/);
  for (const decimals of [`0x${"12".padStart(64, "0")}`, "0x"])
    assert.match((await check({ decimals: result(decimals) })).join(), /^PARALLAX_X402_ASSET: .* 6 decimals/);
});

test("returns no warning if the services are unavailable, time out or return invalid responses", async () => {
  const unavailable = new Error("unavailable");
  assert.deepEqual(await check({ supported: unavailable, chain: unavailable }), []);
  assert.deepEqual(await check({ supported: { afterMs: 60_000 }, chain: { afterMs: 60_000 } }), []);
  assert.deepEqual(await check({ supported: { body: "<html>" }, chain: json({}), decimals: { body: "" } }), []);
});
