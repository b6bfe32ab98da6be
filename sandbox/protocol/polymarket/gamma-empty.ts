import type { FastifyInstance } from "fastify";
import { type Query, textParam, ValidationError } from "./gamma-query.ts";

const COMMENTED = ["Event", "Series", "PerpsAsset"];
const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Parts of the catalogue of which the simulated world has nothing: nobody comments, and no teams play. */
export function installEmptyListings(app: FastifyInstance): void {
  app.get<{ Querystring: Query }>("/comments", async ({ query }) => {
    const type = textParam(query, "parent_entity_type");
    if (type === null || textParam(query, "parent_entity_id") === null)
      throw new ValidationError("required query parameter is missing");
    if (!COMMENTED.includes(type)) throw new ValidationError(`expected value to be one of "${COMMENTED.join(", ")}"`);
    return [];
  });
  app.get("/comments/:id", async () => []);
  app.get("/comments/user_address/:address", async () => []);
  app.get("/market-clarifications", async () => []);
  app.get("/teams", async () => []);
  app.get("/sports", async () => []);
  app.get("/sports/market-types", async () => ({ marketTypes: [] }));
  // Wallets trade here, but none of them has made itself a profile.
  app.get<{ Querystring: Query }>("/public-profile", async ({ query }, reply) => {
    if (!ADDRESS.test(textParam(query, "address") ?? "")) throw new ValidationError("invalid address");
    return reply.code(404).send({ type: "not found error", error: "profile not found" });
  });
}
