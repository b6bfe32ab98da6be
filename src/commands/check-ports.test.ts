import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEnvironment } from "../../test/support/config.ts";
import { metricsHost } from "./check-ports.ts";

test("metrics without a token are served on loopback only", () => {
  const live = { PARALLAX_MODE: "live", PARALLAX_METRICS_PORT: "9464" };
  const withToken = { ...live, PARALLAX_METRICS_TOKEN: "0123456789abcdef" };
  for (const PARALLAX_HOST of ["0.0.0.0", "::", "192.0.2.7"]) {
    assert.equal(metricsHost(parseEnvironment({ ...live, PARALLAX_HOST })), "127.0.0.1");
    assert.equal(metricsHost(parseEnvironment({ ...withToken, PARALLAX_HOST })), PARALLAX_HOST);
  }
  for (const PARALLAX_HOST of ["::1", "127.0.0.2", "localhost"])
    assert.equal(metricsHost(parseEnvironment({ ...live, PARALLAX_HOST })), PARALLAX_HOST);
});
