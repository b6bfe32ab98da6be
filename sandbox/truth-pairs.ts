import type { FastifyInstance } from "fastify";
import type { ExchangeContext } from "./protocol/exchange.ts";
import { presentMarket } from "./truth-routes.ts";
import type { ListedMarket } from "./world/types.ts";

const PAGE_SIZE_DEFAULT = 500;
const PAGE_SIZE_MAX = 2_000;

/** Parses a whole number from `min` to `max`, or returns null. */
function parseWholeNumber(text: string, min: number, max: number): number | null {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : null;
}

interface PairsQuery {
  readonly at?: string;
  readonly limit?: string;
  readonly cursor?: string;
  readonly traps?: string;
}

/** Installs `GET /truth/pairs`: the relations between listed markets of different venues, in pages. */
export function installPairsRoute(app: FastifyInstance, { world, now }: ExchangeContext): void {
  app.get<{ Querystring: PairsQuery }>("/truth/pairs", (request, reply) => {
    if (world.pairs === undefined) return reply.code(404).send({ error: "a recording has no true relations" });
    const { at: atText = String(now()), limit: limitText = String(PAGE_SIZE_DEFAULT) } = request.query;
    const { cursor: cursorText = "0", traps = "false" } = request.query;
    const at = parseWholeNumber(atText, 0, now());
    const limit = parseWholeNumber(limitText, 1, PAGE_SIZE_MAX);
    const cursor = parseWholeNumber(cursorText, 0, Number.MAX_SAFE_INTEGER);
    if (at === null)
      return reply.code(400).send({ error: "at must be a time in Unix milliseconds that is not in the future" });
    if (limit === null) return reply.code(400).send({ error: `limit must be a number from 1 to ${PAGE_SIZE_MAX}` });
    if (cursor === null) return reply.code(400).send({ error: "cursor must be the next_cursor of a page" });
    if (traps !== "true" && traps !== "false") return reply.code(400).send({ error: "traps must be true or false" });
    const present = (market: ListedMarket) => ({
      ...presentMarket(market),
      phase: world.lifecycle(market, at).phase,
    });
    const pairs = world.pairs(at).filter(({ trap }) => traps === "false" || trap !== null);
    const end = cursor + limit;
    return {
      at,
      total: pairs.length,
      pairs: pairs
        .slice(cursor, end)
        .map(({ a, b, relation, trap }) => ({ a: present(a), b: present(b), relation, trap })),
      next_cursor: end < pairs.length ? String(end) : null,
    };
  });
}
