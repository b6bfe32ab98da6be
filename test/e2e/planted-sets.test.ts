/**
 * Plants exclusive sets whose outcomes cost less than 1 together. The service lists the complete one as arbitrage, and says of
 * the others why they are not complete.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

/** The sandbox at real speed, so that no market changes by itself. */
const SANDBOX = {
  PARALLAX_SANDBOX_SPEED: "1",
  PARALLAX_SANDBOX_MARKETS: "300",
  PARALLAX_SANDBOX_SEED: "7",
  PARALLAX_SANDBOX_LIMITS: "off",
};
const STEP_MS_MAX = 150_000;

interface Expected {
  /** `left_out` of the children. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Why the set is incomplete; null if it is complete. */
  readonly because: string | null;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  none: { leftOut: {}, because: null },
  unreadable: { leftOut: { unreadable: 1 }, because: "children_left_out" },
  other: { leftOut: { placeholder: 1 }, because: "children_left_out" },
  closed: { leftOut: { closed: 1 }, because: "children_left_out" },
  placeholder: { leftOut: {}, because: "outcome_not_open" },
};

interface PlantedSet {
  readonly event_id: string;
  readonly complete: boolean;
  readonly outcomes: readonly { readonly market_id: string; readonly ask: number }[];
  readonly left_out: { readonly market_id: string } | null;
}

interface Opportunity {
  readonly strategy: string;
  readonly event_slug: string;
  readonly legs: readonly { readonly market_id: string; readonly side: string }[];
}

const slugOf = ({ event_id: id }: PlantedSet) => `polymarket:${id}`;
const expectedOf = (kind: string): Expected => EXPECTED[kind] ?? assert.fail(kind);

test("a complete set below 1 is arbitrage, and incomplete ones are not and say why", { timeout: 600_000 }, async () => {
  const folder = await temporaryFolder();
  const service = await startServiceProcess({ dataDir: folder.path, env: SANDBOX });
  try {
    const readOpportunities = async () => {
      const { status, json } = await service.get("/v1/arbitrage?kind=exclusive_set&min_spread=0&limit=200");
      assert.equal(status, 200, JSON.stringify(json));
      return json.opportunities as readonly Opportunity[];
    };
    const planted = new Map<string, PlantedSet>();
    for (const [kind, { because }] of Object.entries(EXPECTED)) {
      const response = await fetch(`${service.sandboxUrl}/plants/polymarket/set`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ left_out: kind === "none" ? null : kind }),
      });
      const set = (await response.json()) as PlantedSet;
      assert.equal(response.status, 200, JSON.stringify(set));
      assert.equal(set.complete, because === null);
      planted.set(kind, set);
    }

    for (const [kind, set] of planted) {
      const { leftOut } = expectedOf(kind);
      const total = set.outcomes.length + (set.left_out === null ? 0 : 1);
      const leftOutCount = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
      const expected = JSON.stringify({ total, read: total - leftOutCount, left_out: leftOut });
      const isRead = async () => {
        const { json } = await service.get(`/v1/events/${slugOf(set)}`);
        return JSON.stringify(json.children) === expected ? true : null;
      };
      await eventually(isRead, `${kind}: the children ${expected}`, STEP_MS_MAX);
    }

    // NO of all outcomes needs no complete set, so only YES of all outcomes is checked.
    const findSold = async () => {
      const opportunities = (await readOpportunities()).filter(({ strategy }) => strategy === "buy_all_yes");
      const sold = new Map(opportunities.map((opportunity) => [opportunity.event_slug, opportunity]));
      for (const [kind, set] of planted) assert.ok(set.complete || !sold.has(slugOf(set)), `${kind} is incomplete`);
      return sold;
    };
    const complete = planted.get("none") ?? assert.fail("a complete set");
    const sold = await eventually(
      async () => (await findSold()).get(slugOf(complete)) ?? null,
      "the complete set",
      STEP_MS_MAX,
    );
    assert.deepEqual(
      sold.legs.map(({ market_id: id, side }) => `${side} ${id}`).sort(),
      complete.outcomes.map(({ market_id: id }) => `yes ${id}`).sort(),
    );

    for (const [kind, set] of planted) {
      const { status, json } = await service.get(`/v1/events/${slugOf(set)}/probability-map`);
      assert.equal(status, 200, JSON.stringify(json));
      const { because } = expectedOf(kind);
      assert.deepEqual([kind, json.exhaustive, json.not_exhaustive_because], [kind, because === null, because]);
    }
  } finally {
    await service.end();
    await folder.release();
  }
});
