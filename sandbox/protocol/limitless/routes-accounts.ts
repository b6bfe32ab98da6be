import type { FastifyInstance } from "fastify";
import { VenueHttpError } from "./http-errors.ts";

/** What only somebody signed in may see or do. */
const SIGNED_PATHS = [
  "/auth/verify-auth",
  "/auth/logout",
  "/auth/api-keys/*",
  "/auth/api-tokens",
  "/auth/api-tokens/*",
  "/portfolio/history",
  "/portfolio/pnl-chart",
  "/portfolio/points",
  "/portfolio/positions",
  "/portfolio/trades",
  "/portfolio/trading/allowance",
  "/profiles/me",
  "/markets/:slug/locked-balance",
  "/markets/:slug/user-orders",
  "/orders",
  "/orders/*",
  "/amm/*",
];
const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Accounts: signed requests are refused, and of an address nothing is known, as only trades are simulated. */
export function installAccountRoutes(app: FastifyInstance): void {
  for (const url of SIGNED_PATHS) {
    app.route({
      method: ["GET", "POST", "DELETE"],
      url,
      handler: async () => {
        throw new VenueHttpError(401, "Unauthorized");
      },
    });
  }
  type ByAccount = { Params: { account: string } };
  const assertAddress = (account: string) => {
    if (!ADDRESS.test(account)) throw new VenueHttpError(400, "Invalid account address");
  };
  app.get<ByAccount>("/portfolio/:account/positions", async ({ params }) => {
    assertAddress(params.account);
    return { amm: [], clob: [], group: [] };
  });
  app.get<ByAccount>("/portfolio/:account/traded-volume", async ({ params }) => {
    assertAddress(params.account);
    return { data: "0" };
  });
}
