import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { escapeHtml } from "../src/lib/escape-html.ts";
import { hostWithoutPort, isLoopbackHost } from "../src/lib/loopback.ts";
import { FAULT_DEFINITIONS, FaultError, type FaultSettings, parseFaults } from "./faults/switches.ts";
import { installPlantRoutes, type Plants } from "./plant-routes.ts";
import type { ExchangeContext, ExchangeService } from "./protocol/exchange.ts";
import type { ServiceUrls } from "./serve.ts";
import { installPairsRoute } from "./truth-pairs.ts";
import { installTruthRoutes } from "./truth-routes.ts";
import { type ReplayedRecording, SANDBOX_VENUES, type World } from "./world/types.ts";

const presentRecording = (recording: ReplayedRecording) => ({
  source: recording.source,
  started_at: recording.startedAt,
  ended_at: recording.endedAt,
  pivot_at: recording.pivotAt,
  facts: recording.facts,
  markets: recording.markets,
  left_out: recording.omittedMarkets,
  is_cut: recording.isTruncated,
});

/**
 * The control server: an overview page, the base URLs, the true state of the simulated markets, and the fault switches.
 *
 * @param host  address on which the server listens; requests may use only this and loopback names as `Host`
 */
export function createControlService(
  context: ExchangeContext & { readonly plants?: Plants },
  urls: ServiceUrls,
  host: string,
): ExchangeService {
  const { world, now } = context;
  return {
    venue: "control",
    name: "rest",
    install(app) {
      app.addHook("onRequest", async ({ headers }, reply) => {
        const error = findForeignHeader(headers, host);
        if (error !== null) return reply.code(403).send({ error });
      });
      app.get("/", (_request, reply) => {
        const at = now();
        const rows = SANDBOX_VENUES.map((venue) => {
          const markets = world.markets(venue, at);
          const open = markets.filter((market) => world.lifecycle(market, at).phase === "active").length;
          const faults = describeFaults(context.faults?.[venue].settings ?? {}) || "none";
          const links = Object.entries(urls[venue] ?? {})
            .map(([name, url]) => `<div><b>${escapeHtml(name)}</b> <code>${escapeHtml(url)}</code></div>`)
            .join("");
          return `<tr><td>${escapeHtml(venue)}</td><td>${open}</td><td>${markets.length}</td><td>${links}</td><td>${escapeHtml(faults)}</td></tr>`;
        });
        return reply.type("text/html; charset=utf-8").send(renderOverviewPage(rows.join(""), context.world));
      });
      app.get("/urls", () => urls);
      installFaultRoutes(app, context);
      app.get("/world", () => ({
        seed: world.seed,
        genesis: world.genesis,
        speed: world.speed,
        now: now(),
        recording: world.recording && presentRecording(world.recording),
      }));
      installTruthRoutes(app, context);
      installPairsRoute(app, context);
      if (context.plants !== undefined) installPlantRoutes(app, context.plants, context.now);
    },
  };
}

/**
 * Returns why a request must be rejected because a web page of another site may have sent it; null if it is accepted.
 * Such a page can send requests to loopback; their `Origin` header names the other site. With DNS rebinding, an
 * attacker's host name resolves to loopback: the page can then also read the responses, but `Host` has that name.
 */
function findForeignHeader({ host, origin }: IncomingHttpHeaders, configuredHost: string): string | null {
  const hostname = hostWithoutPort(host);
  if (!isLoopbackHost(hostname) && hostname !== configuredHost)
    return `This server does not answer to the host ${hostname}: use localhost or a loopback address`;
  if (origin !== undefined && origin !== `http://${host}`) return `Requests from pages of ${origin} are not allowed`;
  return null;
}

const describeFaults = (settings: FaultSettings): string =>
  Object.entries(settings)
    .map(([name, { rate }]) => `${name} ${rate}`)
    .join(", ");

/** Installs routes that list and change the fault switches of one venue, or of all venues (`all`). */
function installFaultRoutes(app: FastifyInstance, { faults }: ExchangeContext): void {
  if (faults === undefined) return;
  const state = () => ({
    switches: FAULT_DEFINITIONS,
    venues: Object.fromEntries(
      SANDBOX_VENUES.map((venue) => [venue, { on: faults[venue].settings, happened: faults[venue].counts }]),
    ),
  });
  const updateFaults = (update: "replace" | "change") => async (request: FaultRequest, reply: FastifyReply) => {
    const { venue: name = "all" } = request.params;
    const venues = SANDBOX_VENUES.filter((venue) => name === "all" || name === venue);
    if (venues.length === 0)
      return reply.code(404).send({ error: `unknown venue ${name}; venues: ${SANDBOX_VENUES.join(", ")}, all` });
    try {
      const isReset = request.method === "DELETE";
      const settings = isReset ? {} : parseFaults(request.body);
      for (const venue of venues) {
        faults[venue][update](settings);
        if (isReset) faults[venue].resetCounts();
      }
      return state();
    } catch (error) {
      if (error instanceof FaultError) return reply.code(400).send({ error: error.message });
      throw error;
    }
  };
  app.get("/faults", state);
  app.put("/faults/:venue", updateFaults("replace"));
  app.post("/faults/:venue", updateFaults("change"));
  app.delete("/faults/:venue", updateFaults("replace"));
  app.delete("/faults", updateFaults("replace"));
}

type FaultRequest = FastifyRequest<{ Params: { venue?: string } }>;

function describeWorld({ seed, speed, genesis, recording }: World): string {
  const startedAt = new Date(genesis).toISOString();
  if (recording === undefined)
    return `Seed ${seed}, trading at ${speed}× real activity, started ${startedAt} with 30 days of history.`;
  const recordedAt = new Date(recording.startedAt).toISOString();
  return `Replaying ${recording.source} at ${speed}× speed since ${startedAt}: ${recording.markets} markets, recorded from ${recordedAt}.`;
}

function renderOverviewPage(rows: string, world: World): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parallax sandbox</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c2733}table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #d5dde5;padding:.5rem;text-align:left;vertical-align:top}code{background:#eef2f6;padding:.1rem .3rem;border-radius:4px}</style>
<h1>Parallax sandbox</h1>
<p>Simulated venues that speak the protocols of the real ones. No request reaches a real venue and no money is involved.
${escapeHtml(describeWorld(world))}</p>
<table><tr><th>Venue</th><th>Open markets</th><th>Listed</th><th>Base URLs</th><th>Faults</th></tr>${rows}</table>
<h2>For tests</h2>
<p><code>GET /urls</code> returns the base URLs as JSON. <code>GET /world</code> returns seed, start, speed, current time and
the replayed recording. docs/sandbox.md describes the requests for true states and planted changes.</p>
<h2>Faults</h2>
<p>Fault switches make a venue fail, each at a rate from 0 to 1 per request or message. <code>GET /faults</code> returns all
switches, the active ones and how often each fault occurred. <code>PUT /faults/{venue}</code> with JSON such as
<code>{"server_error": 0.25, "latency": {"rate": 1, "ms": 800}}</code> replaces the switches of a venue. <code>POST</code>
changes only the given switches. <code>DELETE</code> turns all switches off and resets the counts. Use the venue
<code>all</code> for all venues.</p></html>`;
}
