import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import type { RunningSandbox } from "../../sandbox/main.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { MATCH_DECISION_MIN } from "../../src/matching/decide.ts";
import {
  eventually,
  everyMarket,
  run,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";
import { readTruth } from "../support/venues/true-pairs.ts";

const SERVER_URL = process.env.TEST_DATABASE_URL;
const REFERENCE_VENUE = "manifold";

/** Markets that close earlier may close during the test. */
const OPEN_MS_MIN = HOUR_MS;

interface ListedMarket {
  readonly platform: string;
  readonly market_id: string;
  readonly close_time?: string;
  readonly also_on?: Readonly<Record<string, string>>;
  readonly event_slug?: string;
}

const idOf = ({ platform, market_id }: ListedMarket) => `${platform}/${market_id}`;

/** Runs `parallax matches` as an operator would, and parses its JSON. */
async function runMatches(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const program = run(process.execPath, ["bin/parallax.mjs", "matches", ...args, "--json"], env);
  const code = await program.ended;
  const text = program.output();
  assert.equal(code, 0, text);
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON. Warnings follow the JSON.
  return JSON.parse(text.slice(0, text.lastIndexOf("}") + 1)) as any;
}

const readMarket = async (
  service: ServiceProcess,
  market: Pick<ListedMarket, "platform" | "market_id">,
): Promise<ListedMarket> =>
  (await service.get(`/v1/markets/${market.platform}/${encodeURIComponent(market.market_id)}`)).json;

const waitUntilMatched = (service: ServiceProcess) =>
  eventually(async () => {
    const matching = (await service.get("/v1/health")).json.checks?.matching;
    return matching?.status === "ok" && matching.pairs > 0 && matching.pending === 0 ? matching : null;
  }, "the matching");

interface ListedPair {
  readonly market_a: string;
  readonly market_b: string;
  readonly relation: string;
  readonly confidence: number;
  readonly evidence: readonly string[];
}

const toMarket = (id: string) => ({ platform: id.slice(0, id.indexOf("/")), market_id: id.slice(id.indexOf("/") + 1) });

/**
 * Returns pairs of two trading venues that the API shows, as the operator sees them. No market is in two of them, and all are
 * open for at least an hour.
 */
async function findLinkedPairs(
  service: ServiceProcess,
  env: Readonly<Record<string, string>>,
  count: number,
): Promise<readonly ListedPair[]> {
  const { pairs }: { pairs: readonly ListedPair[] } = await runMatches(env, "list", "--limit", "1000");
  const found: ListedPair[] = [];
  for (const pair of pairs) {
    if (pair.relation !== "identical" || pair.confidence < 0.9) continue;
    const ids = found.flatMap(({ market_a, market_b }) => [market_a, market_b]);
    if (ids.includes(pair.market_a) || ids.includes(pair.market_b)) continue;
    const [a, b] = [toMarket(pair.market_a), toMarket(pair.market_b)];
    if ([a.platform, b.platform].includes(REFERENCE_VENUE)) continue;
    const { also_on: alsoOn, close_time: closesAt = "" } = await readMarket(service, a);
    if (alsoOn?.[b.platform] !== undefined && Date.parse(closesAt) > Date.now() + OPEN_MS_MIN) found.push(pair);
    if (found.length === count) return found;
  }
  throw new Error(`only ${found.length} of ${pairs.length} pairs are shown in also_on`);
}

describe("matching of the simulated venues", () => {
  let sandbox: RunningSandbox;
  let folder: { path: string; release(): Promise<void> };
  let service: ServiceProcess;
  const start = async () => {
    service = await startServiceProcess({ dataDir: folder.path, env: venueSettings(sandbox) });
    await waitUntilMatched(service);
  };
  before(async () => {
    sandbox = await testSandbox({ marketCount: 150 });
    folder = await temporaryFolder();
    await start();
  });
  after(async () => {
    await service.end();
    await sandbox.close();
    await folder.release();
  });

  test("matched markets are the same in the simulated world, and no different questions are matched or listed as arbitrage", async () => {
    const truth = new Map((await readTruth(sandbox)).map((pair) => [`${pair.a} ${pair.b}`, pair]));
    const { pairs }: { pairs: readonly ListedPair[] } = await runMatches(
      { PARALLAX_DATA_DIR: folder.path },
      ...["list", "--limit", "1000"],
    );
    const exact = pairs.filter(
      ({ relation, confidence }) =>
        ["identical", "inverse"].includes(relation) && confidence >= MATCH_DECISION_MIN.market,
    );
    const isRight = ({ market_a, market_b, relation }: ListedPair) =>
      truth.get(`${market_a} ${market_b}`)?.relation === relation;
    const wrong = exact.filter((pair) => !isRight(pair));
    assert.ok(exact.length > 30, `${exact.length} pairs`);
    assert.ok(wrong.length / exact.length <= 0.02, JSON.stringify(wrong));
    const { json } = await service.get("/v1/arbitrage?min_spread=0&limit=200&expand=scoring");
    for (const opportunity of json.opportunities) {
      const ids = ["kalshi", "limitless", "polymarket"].flatMap((venue) =>
        opportunity[venue] === undefined ? [] : `${venue}/${opportunity[venue].market_id}`,
      );
      if (ids.length === 2) assert.equal(truth.get(ids.join(" "))?.relation, opportunity.relation, ids.join(" "));
    }
  });

  test("markets and events that several venues list have `also_on`, and reference markets occur only there", async () => {
    const markets: ListedMarket[] = await everyMarket(service);
    assert.ok(
      markets.some(({ also_on }) => also_on?.[REFERENCE_VENUE] !== undefined),
      "a market is linked to the reference venue",
    );
    assert.ok(
      markets.some(({ also_on = {} }) => Object.keys(also_on).some((venue) => venue !== REFERENCE_VENUE)),
      "a market is linked to another trading venue",
    );
    assert.ok(markets.every(({ platform }) => platform !== REFERENCE_VENUE));
    const linkedEvents = [];
    for (const slug of new Set(markets.flatMap((item) => (item.also_on && item.event_slug) || []))) {
      const { also_on } = (await service.get(`/v1/events/${encodeURIComponent(slug)}`)).json;
      if (also_on.length > 0) linkedEvents.push(...also_on);
    }
    assert.ok(linkedEvents.length > 0);
    for (const { platform, event_id, market_count } of linkedEvents) {
      assert.ok(typeof event_id === "string" && market_count >= 1, `${platform}/${event_id}`);
    }
  });

  test("an operator lists, forbids and pins pairs of the running service, and the decisions survive a restart", async () => {
    const env = { PARALLAX_DATA_DIR: folder.path };
    const [forbidden, pinned] = (await findLinkedPairs(service, env, 2)) as [ListedPair, ListedPair];
    assert.ok(forbidden.evidence.length > 0);
    const isLinked = async ({ market_a: a, market_b: b }: ListedPair) =>
      (await readMarket(service, toMarket(a))).also_on?.[toMarket(b).platform] !== undefined;
    const becomes = (pair: ListedPair, expected: boolean) =>
      eventually(async () => ((await isLinked(pair)) === expected ? true : null), `a link: ${expected}`);

    await runMatches(env, "forbid", forbidden.market_a, forbidden.market_b, "--note", "another question");
    await becomes(forbidden, false);
    await runMatches(env, "forbid", pinned.market_a, pinned.market_b);
    await becomes(pinned, false);
    await runMatches(env, "pin", pinned.market_b, pinned.market_a);
    await becomes(pinned, true);

    await service.end();
    await start();
    assert.equal(await isLinked(forbidden), false, "the pair is still forbidden after a restart");
    assert.equal(await isLinked(pinned), true, "the pair is still pinned after a restart");
    const { decisions } = await runMatches(env, "list");
    assert.equal(decisions.length, 2);
    assert.ok(decisions.some(({ note }: { note: string | null }) => note === "another question"));
    const ofOperator = (await runMatches(env, "list", "--market", pinned.market_a)).pairs.find(
      ({ source }: { source: string }) => source === "operator",
    );
    assert.equal(ofOperator.relation, "identical");
    for (const { market_a: a, market_b: b } of [forbidden, pinned])
      assert.equal((await runMatches(env, "clear", a, b)).cleared, true);
  });

  test("without a running service, an operator changes the decisions, and `list` shows no pairs", async () => {
    const env = { PARALLAX_DATA_DIR: folder.path };
    await service.end();
    await runMatches(env, "pin", "kalshi/UNKNOWN", "polymarket/1", "--inverse");
    assert.deepEqual((await runMatches(env, "list")).pairs, null);
    assert.equal((await runMatches(env, "clear", "kalshi/UNKNOWN", "polymarket/1")).cleared, true);
  });
});

describe("matching on nodes that share a PostgreSQL server", { skip: SERVER_URL === undefined }, () => {
  const databaseName = `parallax_matching_${process.pid}`;
  const url = new URL(SERVER_URL ?? "postgres://nowhere/none");
  url.pathname = `/${databaseName}`;
  const admin = new pg.Client({ connectionString: SERVER_URL });
  const nodes: ServiceProcess[] = [];
  let sandbox: RunningSandbox;
  let folder: { path: string; release(): Promise<void> };
  before(async () => {
    await admin.connect();
    await admin.query(`create database ${databaseName}`);
    sandbox = await testSandbox({ marketCount: 60 });
    folder = await temporaryFolder();
  });
  after(async () => {
    for (const node of nodes) await node.end("SIGKILL");
    await admin.query(`drop database ${databaseName} with (force)`);
    await admin.end();
    await sandbox.close();
    await folder.release();
  });

  test("each API node finds the same pairs and applies a decision; a node without the API does not match", async () => {
    const env = { DATABASE_URL: url.href, ...venueSettings(sandbox) };
    for (const roles of ["api,ingest,worker", "api", "ingest"])
      nodes.push(await startServiceProcess({ dataDir: folder.path, env: { ...env, PARALLAX_ROLES: roles } }));
    const [first, second, ingestNode] = nodes as [ServiceProcess, ServiceProcess, ServiceProcess];
    assert.equal((await ingestNode.get("/v1/health", {})).json.checks.matching, undefined);
    await waitUntilMatched(first);
    await waitUntilMatched(second);
    const listLinks = async (service: ServiceProcess) =>
      (await everyMarket(service)).flatMap((item) =>
        item.also_on ? `${idOf(item)} ${JSON.stringify(item.also_on)}` : [],
      );
    await eventually(async () => {
      const [links, otherLinks] = [await listLinks(first), await listLinks(second)];
      return links.length > 0 && links.sort().join() === otherLinks.sort().join() ? true : null;
    }, "the same links on both nodes");

    const operatorEnv = { DATABASE_URL: url.href, PARALLAX_DATA_DIR: folder.path };
    const [{ market_a: a, market_b: b }] = (await findLinkedPairs(second, operatorEnv, 1)) as [ListedPair];
    await runMatches(operatorEnv, "forbid", a, b);
    for (const node of [first, second])
      await eventually(
        async () => ((await readMarket(node, toMarket(a))).also_on?.[toMarket(b).platform] === undefined ? true : null),
        "the forbidden pair to disappear",
      );
  });
});
