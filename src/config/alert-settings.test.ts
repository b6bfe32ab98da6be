import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_ALERT_LIMITS } from "../capabilities/events/market-alerts/index.ts";
import { parseAlertSettings } from "./alert-settings.ts";
import { SettingsReader } from "./settings-reader.ts";

const parse = (environment: Record<string, string>) => {
  const reader = new SettingsReader(environment);
  return { limits: parseAlertSettings(reader), errors: reader.errors };
};

test("the default settings equal the defaults of the detectors", () => {
  assert.deepEqual(parse({}), { limits: DEFAULT_ALERT_LIMITS, errors: [] });
});

test("every alert limit is parsed", () => {
  const { limits, errors } = parse({
    PARALLAX_PRICE_SHIFT_MIN_MOVE: "0.1",
    PARALLAX_PRICE_SHIFT_MIN_SIGMAS: "7.5",
    PARALLAX_PRICE_SHIFT_SIGMA_FLOOR: "0.02",
    PARALLAX_PRICE_SHIFT_MIN_HOURS: "48",
    PARALLAX_WHALE_MIN_USD: "10000",
    PARALLAX_WHALE_PERCENTILE: "99.9",
    PARALLAX_WHALE_VOLUME_SHARE: "0.25",
    PARALLAX_WHALE_SHARE_MIN_USD: "2500.5",
  });
  assert.deepEqual(errors, []);
  assert.deepEqual(limits, {
    priceShift: { minMove: 0.1, minSigmas: 7.5, sigmaFloor: 0.02, minHours: 48 },
    whale: { minUsd: 10_000, percentile: 99.9, volumeShare: 0.25, shareMinUsd: 2_500.5 },
  });
});

test("a limit outside its range or in another notation is an error that names the setting", () => {
  for (const text of ["0", "1", "-0.1", "5%", "0x1", "1e-2", "NaN", " 0.1", "."]) {
    const { errors } = parse({ PARALLAX_PRICE_SHIFT_MIN_MOVE: text });
    assert.deepEqual(errors, [`PARALLAX_PRICE_SHIFT_MIN_MOVE=${text}: give a number from 0.005 to 0.9`], text);
  }
});
