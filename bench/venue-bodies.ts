/**
 * Measures how much heavy bodies of a venue delay the service.
 *
 *   node bench/venue-bodies.ts [--seconds 10] [--checkouts DIR,...]
 *
 * - `nested`: order books of 4 MB of opening brackets.
 * - `levels`: order books with a million levels.
 * - `list`: a market whose response is a list of 15 MB, which is below the limit of a body.
 * - `long list`: a market whose response is a list of 52 MB, which is above the limit.
 *
 * The service runs as `npm start` does, with a sandbox in its own process and a proxy that replaces bodies of
 * Polymarket. A client requests the order book or an unknown market, one after the other, while another client requests `/livez`
 * at a fixed rate. Prints the response times of `/livez`, the largest resident memory of the service and the number of
 * bodies, for each kind and without heavy bodies, as one JSON line per checkout.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { roundTo } from "../src/lib/numbers.ts";
import { eventually, firstLineOf, run } from "../test/support/service-process.ts";
import { venueSettings } from "../test/support/venues/sandbox.ts";
import { type AttackedService, startAttackedService } from "./harness/attacked-service.ts";
import { sendAtFixedRate } from "./harness/load.ts";
import { residentMibOf } from "./harness/process-usage.ts";

const KINDS = ["none", "nested", "levels", "list", "long list"] as const;
const VENUE = "polymarket";
const NO_SERVER_URL = "ws://127.0.0.1:9";
const PROBES_PER_SECOND = 50;
const PROBE_CONNECTIONS = 4;
const MEMORY_INTERVAL_MS = 100;
/** Pause between two requests. Faster look-ups would be refused: they may use only a quarter of the venue's rate. */
const REQUEST_PAUSE_MS = 100;
/** Time between two kinds, in which timeouts of the kind before end. */
const SETTLE_MS = 3_000;

const { values: flags } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    checkouts: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
  },
});
for (const checkout of flags.checkouts.split(","))
  process.stdout.write(
    `${JSON.stringify({ checkout, ...(await measureCheckout(checkout, Number(flags.seconds))) })}\n`,
  );

/** Starts a sandbox in a child process. Returns the settings with its URLs. */
async function openSandbox() {
  const { child, ended } = run("npm", ["run", "--silent", "sandbox", "--", "--port", "0"]);
  const urls = JSON.parse(await firstLineOf(child));
  const close = async () => {
    child.kill("SIGINT");
    await ended;
  };
  return { settings: venueSettings({ urls }), close };
}

/** Starts the proxy that replaces bodies. `choose` changes the body and returns how many were sent since the last call. */
async function openHeavyVenue(settings: Readonly<Record<string, string>>) {
  const { PARALLAX_POLYMARKET_CLOB_URL: clob = "", PARALLAX_POLYMARKET_GAMMA_URL: gamma = "" } = settings;
  const child = fork(new URL("programs/heavy-venue.ts", import.meta.url), [clob, gamma]);
  const [urls] = (await once(child, "message")) as [{ readonly clobUrl: string; readonly gammaUrl: string }];
  return {
    settings: {
      PARALLAX_POLYMARKET_CLOB_URL: urls.clobUrl,
      PARALLAX_POLYMARKET_GAMMA_URL: urls.gammaUrl,
      // Without the stream, every order book is requested.
      PARALLAX_POLYMARKET_WS_URL: NO_SERVER_URL,
    },
    async choose(kind: string): Promise<number> {
      const answer = once(child, "message");
      child.send(kind);
      return ((await answer) as [{ readonly responses: number }])[0].responses;
    },
    close: async () => child.disconnect(),
  };
}

async function measureCheckout(project: string, seconds: number): Promise<object> {
  await using closers = new AsyncDisposableStack();
  const sandbox = await openSandbox();
  closers.defer(sandbox.close);
  const venue = await openHeavyVenue(sandbox.settings);
  closers.defer(venue.close);
  const service = await startAttackedService(project, 0, { ...sandbox.settings, ...venue.settings });
  closers.defer(service.close);
  const headers = { authorization: `Bearer ${service.otherKey}` };
  // A book that was refused is not requested again at once.
  const markets = await eventually(async () => {
    const { status, json } = await service.get(`/v1/markets?limit=100&platform=${VENUE}`, headers);
    return status === 200 && json.length > 0 ? (json as readonly { readonly market_id: string }[]) : null;
  }, "markets");
  const results: Record<string, object> = {};
  for (const kind of KINDS) {
    const pathOf = (index: number) =>
      kind.endsWith("list")
        ? `/v1/markets/${VENUE}/9${String(index).padStart(8, "0")}`
        : `/v1/markets/${VENUE}/${markets[index % markets.length]?.market_id}/orderbook`;
    await venue.choose(kind);
    const measured = await measure(service, pathOf, seconds);
    results[kind] = { ...measured, bodies: await venue.choose("none") };
    await sleep(SETTLE_MS);
  }
  return results;
}

/** Requests paths one after the other while `/livez` is measured. */
async function measure(service: AttackedService, pathOf: (index: number) => string, seconds: number): Promise<object> {
  const headers = { authorization: `Bearer ${service.otherKey}` };
  const statuses: Record<string, number> = {};
  let isRunning = true;
  const requests = async () => {
    for (let index = 0; isRunning; index++) {
      const status = await service.get(pathOf(index), headers).then(
        (response) => response.status,
        () => "failed",
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      await sleep(REQUEST_PAUSE_MS);
    }
  };
  let residentMibMax = 0;
  const sampling = setInterval(async () => {
    residentMibMax = Math.max(residentMibMax, (await residentMibOf(service.pid)) ?? 0);
  }, MEMORY_INTERVAL_MS);
  const probe = async () => {
    try {
      const load = { perSecond: PROBES_PER_SECOND, seconds, connections: PROBE_CONNECTIONS };
      return await sendAtFixedRate({ url: `${service.url}/livez`, headers: {} }, load);
    } finally {
      isRunning = false;
      clearInterval(sampling);
    }
  };
  const [{ p50Ms, p99Ms, maxMs, failed }] = await Promise.all([probe(), requests()]);
  const [p50, p99, max, residentMib] = [p50Ms, p99Ms, maxMs, residentMibMax].map((value) => roundTo(value, 1));
  return { p50Ms: p50, p99Ms: p99, maxMs: max, failed, residentMibMax: residentMib, statuses };
}
