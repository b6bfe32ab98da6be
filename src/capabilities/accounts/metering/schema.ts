import Type from "typebox";
import { PLANS, TIERS } from "../../../domain/plan.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";

const count = Type.Integer({ minimum: 0 });
const quotas = Type.Object(
  { listing: count, insight: count, strategy: count, deep: count },
  { description: "Calls per calendar month (UTC). 0 means no access." },
);
const rateLimits = Type.Object(
  { general: count, strategy: count },
  { description: "Requests in any 60 seconds. 0 means no access." },
);
const orIndividual = <Schema extends object>(schema: Schema) => ({ ...schema, type: ["object", "null"] }) as never;

export type PlanQuotas = Type.Static<typeof quotas>;
export type PlanRateLimits = Type.Static<typeof rateLimits>;

export const PricingSchema = Type.Object(
  {
    currency: Type.Literal("USD"),
    tiers: Type.Array(
      Type.Object({
        tier: Type.Unsafe<string>({ type: "string", enum: TIERS.map((tier) => tier.toLowerCase()) }),
        price_usd: Type.Number({ description: "Price of one call in USD, for pay per request" }),
        endpoints: Type.Array(Type.String({ description: "HTTP method and path, for example `GET /v1/markets`" })),
      }),
    ),
    plans: Type.Array(
      Type.Object({
        plan: Type.Unsafe<string>({ type: "string", enum: PLANS }),
        price_usd_month: Type.Unsafe<number | null>({
          type: ["number", "null"],
          description: "Price in USD per month. Null if it is individual.",
        }),
        quotas: Type.Unsafe<PlanQuotas | null>(orIndividual(quotas)),
        rate_limits: Type.Unsafe<PlanRateLimits | null>(orIndividual(rateLimits)),
      }),
    ),
  },
  { [SCHEMA_NAME]: "Pricing" },
);
