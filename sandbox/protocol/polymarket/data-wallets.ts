import type { FastifyInstance } from "fastify";
import { type Query, textParam, ValidationError } from "./gamma-query.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const BY_USER = ["/positions", "/closed-positions", "/v1/activity/combos", "/v1/positions/combos"];

export function userOf(query: Query): string {
  const user = textParam(query, "user");
  if (user === null) throw new ValidationError("required query param 'user' not provided");
  if (!ADDRESS.test(user)) throw new ValidationError("invalid user address");
  return user.toLowerCase();
}

/**
 * Accounts of wallets. On the simulated tape a wallet is a name beside a trade: no account is kept for it, so there are
 * no positions and no ranking.
 */
export function installWallets(app: FastifyInstance): void {
  for (const path of BY_USER) {
    app.get<{ Querystring: Query }>(path, async ({ query }) => {
      userOf(query);
      return [];
    });
  }
  app.get<{ Querystring: Query }>("/value", async ({ query }) => {
    const user = userOf(query);
    return [{ user, value: 0 }];
  });
  app.get<{ Querystring: Query }>("/v1/market-positions", async ({ query }) => {
    if (textParam(query, "market") === null) throw new ValidationError("required query param 'market' not provided");
    return [];
  });
  app.get("/v1/leaderboard", async () => []);
  app.get("/v1/builders/leaderboard", async () => []);
  app.get("/v1/builders/volume", async () => []);
}
