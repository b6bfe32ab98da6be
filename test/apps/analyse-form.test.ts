import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { signedInHarness } from "../support/customers/account-harness.ts";
import { embeddedDatabase } from "../support/databases.ts";
import { atFileEnd } from "../support/file-end.ts";
import { sampleMarket } from "../support/markets/market-samples.ts";
import {
  launchBrowser,
  listLayoutDefects,
  openBrowserPage,
  browserSkipReason as skip,
} from "../support/pages/browser.ts";

let browser: Browser;
before(async () => {
  if (skip === false) browser = await launchBrowser();
});
after(async () => {
  if (skip === false) await browser.close();
});

const PATH = "/markets/venue_a/m-1";

test("without JavaScript, a signed-in visitor starts an analysis, and the page reloads until it shows the estimate", {
  skip,
}, async () => {
  const { harness, cookie } = await signedInHarness(await embeddedDatabase(), {
    clock: systemClock,
    analyses: { hasScheduledAnalyses: false },
  });
  const { app } = harness;
  atFileEnd(() => app.analyses.stop());
  const now = Date.now();
  app.board.apply(sampleMarket("m-1", { listing: { venue: "venue_a" }, quote: { receivedAt: now } }), now);
  await app.http.listen({ host: "127.0.0.1", port: 0 });
  const origin = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`;
  const { page, problems, close } = await openBrowserPage(browser, origin, { javaScriptEnabled: false });
  const [name = "", value = ""] = cookie.split("=");
  await page.context().addCookies([{ name, value, url: origin }]);
  const assertPage = async () => {
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      assert.deepEqual(await listLayoutDefects(page), []);
    }
  };
  await page.goto(origin + PATH);
  await assertPage();
  await page.click("button:has-text('Analyse this market')");
  await page.waitForSelector("text=/has been running since/");
  assert.match(page.url(), /\/markets\/venue_a\/m-1\?period=7d&analysis=plx-[a-z2-7]{26}#estimate$/);
  await assertPage();
  app.analyses.start();
  await page.waitForSelector(".estimate .headline:has-text('80% interval')");
  const { y = -1 } = (await page.locator("#estimate").boundingBox()) ?? {};
  assert.ok(y >= 0 && y < 844, "the reload keeps the scroll position");
  await assertPage();
  assert.deepEqual(problems, []);
  await close();
  await app.analyses.stop();
});
