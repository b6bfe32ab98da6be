import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { createRow, daysBefore } from "../../test/support/engine/sample-rows.ts";
import { createProgramRunner } from "../../test/support/run-on-rows.ts";
import type { ResolvedRow } from "./rows.ts";

const { run: evaluate, fileWith, pathOf } = createProgramRunner(new URL("evaluate.ts", import.meta.url));

interface Scores {
  readonly n: number;
  readonly brier: number | null;
  readonly market_brier: number | null;
  readonly diff: number | null;
  readonly diff_ci: readonly number[] | null;
}
interface Summary extends Scores {
  readonly groups: number;
  readonly horizons: readonly (Scores & { readonly days: number })[];
  readonly later_price: readonly { readonly hours: number; readonly n: number; readonly mse_ratio: number | null }[];
}
const lastLine = (stdout: string): Summary => JSON.parse(stdout.replace(/\n$/, "").split("\n").at(-1) ?? "");

/** Questions with a low price that resolve NO. The shipped engine lowers such prices. */
const LONG_SHOTS = Array.from(
  { length: 12 },
  (_, index): ResolvedRow =>
    createRow({
      venue: ["polymarket", "venue_a", "metaculus"][index % 3] ?? "",
      market_id: `${index}`,
      group: `g${index}`,
      outcome: 0,
      close_at: daysBefore(0),
      prices: [
        [daysBefore(31), 0.04],
        [daysBefore(30), 0.05],
      ],
    }),
);

describe("npm run evaluate", () => {
  test("the output has tables and ends with one JSON object, and the reports are written", async () => {
    const html = pathOf("report.html");
    const json = pathOf("report.json");
    const rows = [...LONG_SHOTS, createRow({ venue: "<b>", title: null, group: null })];
    const { code, stdout, stderr } = await evaluate(await fileWith(rows), "--html", html, "--json", json);
    assert.equal(code, 0, stderr);
    const { n, groups, diff, diff_ci, horizons, later_price } = lastLine(stdout);
    assert.deepEqual([n, groups], [14, 13]);
    assert.ok(diff !== null && diff < 0 && diff_ci?.length === 2);
    assert.deepEqual(
      horizons.map(({ days, n: count }) => [days, count]),
      [
        [0.25, 1],
        [1, 1],
        [7, 0],
        [30, 12],
        [90, 0],
      ],
    );
    assert.deepEqual(
      later_price.map(({ hours, n: count }) => [hours, count]),
      [
        [1, 0],
        [24, 12],
        [168, 0],
      ],
    );
    assert.match(stdout, /\| metaculus \|/);
    assert.equal(JSON.parse(await readFile(json, "utf8")).all.n, n);
    const page = await readFile(html, "utf8");
    assert.match(page, /<svg .*Reliability diagram/s);
    assert.match(page, /&lt;b&gt;/);
    assert.doesNotMatch(page, /<b>|src=|href=|<script/);
  });

  test("recorded quotes get scores against later prices, and no scores by horizon", async () => {
    const rows = Array.from({ length: 30 }, (_, hour) => ({
      ts: new Date(Date.UTC(2026, 6, 1, hour)).toISOString(),
      contest: "cup",
      outcome: "A",
      first: { yes_bid: 0.3, yes_ask: 0.31 },
      second: { yes_bid: 0.4 + hour / 1_000, yes_ask: 0.41 + hour / 1_000 },
    }));
    const { n, later_price } = lastLine((await evaluate(await fileWith(rows))).stdout);
    assert.equal(n, 0);
    assert.deepEqual(
      later_price.map(({ hours, n: count }) => [hours, count]),
      [
        [1, 58],
        [24, 12],
        [168, 0],
      ],
    );
  });

  test("an empty file gives null scores and a message", async () => {
    const { code, stdout } = await evaluate(await fileWith([]));
    assert.equal(code, 0);
    assert.match(stdout, /no rows/);
    const { n, brier, diff_ci } = lastLine(stdout);
    assert.deepEqual([n, brier, diff_ci], [0, null, null]);
  });

  test("an invalid line gives an error with its number, and invalid arguments give an error with the usage", async () => {
    const bad = await evaluate(await fileWith([createRow(), { venue: 1 }]));
    assert.equal(bad.code, 1);
    assert.equal(bad.stdout, "");
    assert.match(bad.stderr, /rows\.jsonl, line 2: not a resolved question/);
    assert.equal((await evaluate(pathOf("absent.jsonl"))).code, 1);
    assert.match((await evaluate()).stderr, /Usage: npm run evaluate/);
    assert.match((await evaluate("--help")).stdout, /^Usage:/);
  });
});
