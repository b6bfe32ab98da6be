import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FAULT_DEFINITIONS, FaultError, type FaultSettings, parseFaults } from "./faults/switches.ts";
import type { ExchangeContext, ExchangeService } from "./protocol/exchange.ts";
import { kalshiTicker } from "./protocol/kalshi/index.ts";
import { limitlessMarketId } from "./protocol/limitless/index.ts";
import { manifoldMarketId } from "./protocol/manifold/index.ts";
import { polymarketMarketId } from "./protocol/polymarket/index.ts";
import type { ServiceUrls } from "./serve.ts";
import {
  type ListedMarket,
  type ReplayedRecording,
  SANDBOX_VENUES,
  type SandboxVenue,
  type World,
} from "./world/types.ts";

/** The id under which a venue lists a market. */
const MARKET_IDS: Readonly<Record<SandboxVenue, (market: ListedMarket) => string>> = {
  kalshi: kalshiTicker,
  polymarket: polymarketMarketId,
  limitless: limitlessMarketId,
  manifold: manifoldMarketId,
};

const presentRecording = (recording: ReplayedRecording) => ({
  source: recording.source,
  started_at: recording.startedAt,
  ended_at: recording.endedAt,
  pivot_at: recording.pivotAt,
  facts: recording.facts,
  markets: recording.markets,
  left_out: recording.leftOut,
  is_cut: recording.isCut,
});

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** The sandbox's own address: a page that says what is served where, and the simulator's truth for tests. */
export function createControl(context: ExchangeContext, urls: ServiceUrls): ExchangeService {
  const { world, now } = context;
  const truthOf = (market: ListedMarket, at: number) => ({
    venue: market.venue,
    market_id: MARKET_IDS[market.venue](market),
    index: market.index,
    question: market.question,
    label: market.label,
    event: market.event.title,
    lifecycle: world.lifecycle(market, at),
    book: world.book(market, at),
    probability: world.probability(market, at),
    activity: world.activity(market, at),
  });
  const isVenue = (text: string): text is SandboxVenue => (SANDBOX_VENUES as readonly string[]).includes(text);

  return {
    venue: "control",
    name: "rest",
    basePath: "",
    scheme: "http",
    listener: "control",
    install(app) {
      app.get("/", (_request, reply) => {
        const at = now();
        const rows = SANDBOX_VENUES.map((venue) => {
          const markets = world.markets(venue, at);
          const open = markets.filter((market) => world.lifecycle(market, at).phase === "active").length;
          const faults = shortly(context.faults?.[venue].settings ?? {}) || "none";
          const links = Object.entries(urls[venue] ?? {})
            .map(([name, url]) => `<div><b>${escapeHtml(name)}</b> <code>${escapeHtml(url)}</code></div>`)
            .join("");
          return `<tr><td>${escapeHtml(venue)}</td><td>${open}</td><td>${markets.length}</td><td>${links}</td><td>${escapeHtml(faults)}</td></tr>`;
        });
        return reply.type("text/html; charset=utf-8").send(page(rows.join(""), context));
      });
      app.get("/urls", () => urls);
      installFaults(app, context);
      app.get("/world", () => ({
        seed: world.seed,
        genesis: world.genesis,
        speed: world.speed,
        now: now(),
        ...(world.recording === undefined ? {} : { recording: presentRecording(world.recording) }),
      }));
      app.get<{ Params: { venue: string }; Querystring: { at?: string; market_id?: string } }>(
        "/truth/:venue",
        (request, reply) => {
          const { venue } = request.params;
          if (!isVenue(venue)) return reply.code(404).send({ error: `no venue ${venue}` });
          const at = request.query.at === undefined ? now() : Number(request.query.at);
          if (!Number.isFinite(at) || at > now())
            return reply.code(400).send({ error: "at is a time in Unix milliseconds, not in the future" });
          const markets = world.markets(venue, at);
          const wanted = request.query.market_id;
          return {
            at,
            markets: markets
              .filter((market) => wanted === undefined || MARKET_IDS[market.venue](market) === wanted)
              .map((market) => truthOf(market, at)),
          };
        },
      );
    },
  };
}

const shortly = (settings: FaultSettings): string =>
  Object.entries(settings)
    .map(([name, { rate }]) => `${name} ${rate}`)
    .join(", ");

/** The switches: what there is and what is on, changed for one venue at a time or for `all`. */
function installFaults(app: FastifyInstance, { faults }: ExchangeContext): void {
  if (faults === undefined) return;
  const state = () => ({
    switches: FAULT_DEFINITIONS,
    venues: Object.fromEntries(
      SANDBOX_VENUES.map((venue) => [venue, { on: faults[venue].settings, happened: faults[venue].happened }]),
    ),
  });
  const throwSwitches = (how: "replace" | "change") => async (request: FaultRequest, reply: FastifyReply) => {
    const venues = SANDBOX_VENUES.filter((venue) => request.params.venue === "all" || request.params.venue === venue);
    if (venues.length === 0) return reply.code(404).send({ error: unknownVenue(request.params.venue) });
    try {
      const isCleared = request.method === "DELETE";
      const settings = isCleared ? {} : parseFaults(request.body);
      for (const venue of venues) {
        faults[venue][how](settings);
        if (isCleared) faults[venue].forgetHappened();
      }
      return state();
    } catch (error) {
      if (error instanceof FaultError) return reply.code(400).send({ error: error.message });
      throw error;
    }
  };
  app.get("/faults", state);
  app.put("/faults/:venue", throwSwitches("replace"));
  app.post("/faults/:venue", throwSwitches("change"));
  app.delete("/faults/:venue", throwSwitches("replace"));
  app.delete("/faults", async () => {
    for (const venue of SANDBOX_VENUES) {
      faults[venue].replace({});
      faults[venue].forgetHappened();
    }
    return state();
  });
}

type FaultRequest = FastifyRequest<{ Params: { venue: string } }>;

const unknownVenue = (venue: string) => `there is no venue ${venue}; venues: ${SANDBOX_VENUES.join(", ")}, all`;

function aboutOf({ seed, speed, genesis, recording }: World): string {
  const begun = new Date(genesis).toISOString();
  if (recording === undefined)
    return `Seed ${seed}, trading ${speed} times as lively as in reality, begun ${begun} with thirty days of past.`;
  const made = new Date(recording.startedAt).toISOString();
  return `Replayed ${speed} times as fast as recorded, since ${begun}: ${recording.source}, recorded from ${made} on, ${recording.markets} markets.`;
}

function page(rows: string, context: ExchangeContext): string {
  const { world } = context;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parallax sandbox</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c2733}table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #d5dde5;padding:.5rem;text-align:left;vertical-align:top}code{background:#eef2f6;padding:.1rem .3rem;border-radius:4px}</style>
<h1>Parallax sandbox</h1>
<p>Simulated venues that speak the venues' own protocols. Nothing here is real: no venue is asked, no money moves.
${escapeHtml(aboutOf(world))}</p>
<table><tr><th>Venue</th><th>Open markets</th><th>Listed</th><th>Base URLs</th><th>Faults</th></tr>${rows}</table>
<h2>For tests</h2>
<p><code>GET /urls</code> the base URLs as JSON · <code>GET /world</code> seed, start, speed, time and what is replayed ·
<code>GET /truth/{venue}?at={Unix milliseconds}&amp;market_id={id}</code> what the simulator knows of each market at an instant:
book, lifecycle, outcome, volume.</p>
<h2>Faults</h2>
<p>Each venue can be made to fail, at a rate from 0 to 1 a request or message: <code>GET /faults</code> the switches, what
is on and how often each has spoilt something · <code>PUT /faults/{venue}</code> with JSON such as
<code>{"server_error": 0.25, "latency": {"rate": 1, "ms": 800}}</code> replaces a venue's switches, <code>POST</code> changes
those named, <code>DELETE</code> clears them and counts from 0 again. The venue <code>all</code> stands for every one.</p></html>`;
}
