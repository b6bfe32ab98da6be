import assert from "node:assert/strict";
import { test } from "node:test";
import { assertConfigError, parseEnvironment } from "../../test/support/config.ts";
import type { Environment } from "./settings-reader.ts";

const PAYMENT_SETTINGS: Environment = {
  PARALLAX_X402_PAY_TO: `0x${"1".repeat(40)}`,
  PARALLAX_X402_FACILITATOR_URL: "https://facilitator.example.org/",
  PARALLAX_PUBLIC_URL: "https://api.example.org",
  PARALLAX_MODE: "live",
};

test("PARALLAX_X402_PAY_TO enables payments in USDC on a known network, or in the token of PARALLAX_X402_ASSET", () => {
  assert.equal(parseEnvironment({ ...PAYMENT_SETTINGS, PARALLAX_X402_PAY_TO: "" }).payments, null);
  const { payments } = parseEnvironment(PAYMENT_SETTINGS);
  assert.deepEqual(
    [payments?.asset.network, payments?.asset.name, payments?.facilitatorUrl, payments?.rpcUrl],
    ["eip155:8453", "USD Coin", "https://facilitator.example.org", null],
  );
  const sandboxSettings = { ...PAYMENT_SETTINGS, PARALLAX_MODE: "sandbox", PARALLAX_X402_NETWORK: "eip155:84532" };
  assert.equal(parseEnvironment(sandboxSettings).payments?.asset.name, "USDC");
  const assetText = `0x${"2".repeat(40)};Test Dollar;1`;
  const otherAsset = parseEnvironment({
    ...sandboxSettings,
    PARALLAX_X402_NETWORK: "eip155:31337",
    PARALLAX_X402_ASSET: assetText,
  }).payments?.asset;
  assert.deepEqual([otherAsset?.chainId, otherAsset?.name, otherAsset?.version], [31_337, "Test Dollar", "1"]);
});

test("rejects incomplete payment settings, and a mainnet in sandbox mode", () => {
  const errorCases: readonly [Environment, RegExp][] = [
    [{ PARALLAX_X402_PAY_TO: "0x123" }, /PAY_TO: give an address/],
    [{ PARALLAX_PUBLIC_URL: "" }, /PAY_TO requires PARALLAX_PUBLIC_URL/],
    [{ PARALLAX_MODE: "sandbox" }, /NETWORK=eip155:8453: simulated data must not cost real money/],
    [{ PARALLAX_X402_NETWORK: "base" }, /NETWORK=base: give eip155:/],
    [{ PARALLAX_X402_NETWORK: "eip155:1" }, /ASSET: give address;name;version/],
    [{ PARALLAX_X402_ASSET: "USDC" }, /ASSET: give address;name;version/],
    [{ PARALLAX_X402_FACILITATOR_URL: "" }, /FACILITATOR_URL: give an https/],
    [{ PARALLAX_X402_FACILITATOR_URL: "http://facilitator.example.org" }, /FACILITATOR_URL: give an https/],
    [{ PARALLAX_X402_RPC_URL: "http://10.0.0.1:8545" }, /RPC_URL: give an https/],
  ];
  for (const [changes, expected] of errorCases) assertConfigError({ ...PAYMENT_SETTINGS, ...changes }, expected);
  const localUrls = {
    PARALLAX_X402_FACILITATOR_URL: "http://127.0.0.1:4021",
    PARALLAX_X402_RPC_URL: "http://[::1]:8545",
  };
  assert.equal(
    parseEnvironment({ ...PAYMENT_SETTINGS, ...localUrls }).payments?.facilitatorUrl,
    "http://127.0.0.1:4021",
  );
});
