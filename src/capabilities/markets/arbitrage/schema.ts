import Type, { type Static } from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  amount,
  count,
  difference,
  marketNames,
  nullableAmount,
  nullableNumber,
  nullableString,
  nullableTimestamp,
  oneOf,
  probability,
  timestamp,
  type VenueIds,
} from "../../../http/schema-types.ts";
import { commaList, emptyIsAbsent } from "../../../http/validation/index.ts";
import { SCAN_MS_MAX } from "./live-scan.ts";
import { OPPORTUNITY_KINDS, REFRESH_FAILURES, SET_STRATEGIES } from "./model.ts";
import type { presentCrossVenueList, presentSetList } from "./present.ts";

export const MIN_SPREAD_DEFAULT = 0.02;
const MIN_SPREAD_MAX = 0.5;
export const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

const score = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });

const OpportunityMarket = Type.Object(
  {
    market_id: Type.String({ description: "Market ticker or id at the venue." }),
    url: nullableString("URL of the market at the venue. Null if the venue publishes none."),
    yes_price: probability(
      "Price of a YES contract, defined as in the Market object. For the relation `inverse`, one of the two prices is 1 minus the YES price of its market, so that both are prices of the same outcome.",
    ),
    updated_at: timestamp("Time at which the venue last confirmed the quotes that the figures are computed from."),
    refreshed: Type.Optional(
      Type.Boolean({
        description: "Whether the scan read this market's order book. If false, its quotes are those of the list.",
      }),
    ),
    refresh_failure: Type.Optional(
      oneOf(
        REFRESH_FAILURES,
        `Why the order book was not read: the venue did not answer, the requests that it permits were used up, the scan ended after ${SCAN_MS_MAX / 1_000} seconds, or it had too many candidates.`,
      ),
    ),
  },
  { [SCHEMA_NAME]: "ArbitrageMarket" },
);

const TakerFeeSchema = Type.Object(
  {
    kind: oneOf(
      ["none", "quadratic", "value_table", "flat_value"],
      "Fee per contract at the price p of the side bought. `quadratic`: rate × (p × (1 - p)) ^ exponent. `value_table`: p × b / (1 - b), where b is the share of `points` at p, linear between the points and constant outside them. `flat_value`: rate × p.",
    ),
    rate: Type.Optional(Type.Number({ minimum: 0 })),
    exponent: Type.Optional(Type.Number({ minimum: 0 })),
    rounds_up_to: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description:
          "Value and fee of an order together are rounded up to a multiple of this, in USD, after the fee at each price was rounded up to one of `fee_rounds_up_to`.",
      }),
    ),
    fee_rounds_up_to: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: "The fee at each price is rounded up to a multiple of this, in USD.",
      }),
    ),
    points: Type.Optional(Type.Array(Type.Array(Type.Number()), { description: "Pairs of a price and a share." })),
  },
  { [SCHEMA_NAME]: "TakerFee" },
);

const Level = Type.Object(
  {
    price: probability("Price of the contract to buy. For NO: 1 minus the YES bid."),
    size: nullableAmount("Contracts offered. Null if the venue does not publish the size."),
    contracts: amount("Contracts bought at this price."),
  },
  { [SCHEMA_NAME]: "ArbitrageLevel" },
);

const Leg = (trading: readonly string[]) =>
  Type.Object(
    {
      ...marketNames(trading),
      url: nullableString("URL of the market at the venue. Null if the venue publishes none."),
      side: oneOf(["yes", "no"], "The contract to buy."),
      book: oneOf(
        ["order_book", "top_of_book"],
        "`order_book`: `levels` is from the market's order book. `top_of_book`: it has only the best price.",
      ),
      book_at: timestamp("Time at which the venue last confirmed the book."),
      taker_fee: TakerFeeSchema,
      contracts: nullableAmount("Contracts to buy. Null if a size is unknown."),
      average_price: nullableNumber({ minimum: 0, maximum: 1, description: "Mean price of these contracts." }),
      cost_usd: nullableAmount("Price of these contracts, without the fee."),
      fee_usd: nullableAmount("Taker fee of the order."),
      levels: Type.Array(Level, {
        description: "The offers that are used, best first, and the first one that is not used.",
      }),
    },
    { [SCHEMA_NAME]: "ArbitrageLeg" },
  );

const spreadFields = {
  spread: amount(
    "Difference of the two YES prices. For another `kind` than `cross_venue`: `payout` minus the best prices of the legs.",
  ),
  spread_pct: amount("`spread` as a percentage."),
};

const scoreField = score(
  "Quality of the opportunity: 0.4 × `spread_score` + 0.2 × `liquidity_score` + 0.2 × `match_confidence_score` + 0.2 × `execution_score`. 0 if `net_spread` is not above 0: after fees there is no profit.",
);

const figureFields = (trading: readonly string[]) => ({
  spread_score: Type.Optional(score("100 × min(1, max(0, `net_spread`) / 0.05).")),
  liquidity_score: Type.Optional(
    score("100 × min(1, log10(1 + `executable_size_usd`) / 4). 0 if the size is unknown."),
  ),
  match_confidence_score: Type.Optional(score("100 × the probability that the legs complement each other.")),
  execution_score: Type.Optional(
    score(
      "100 × (1 - min(s, 0.10) / 0.10) × max(0, 1 - age / 10 minutes), where s is the widest bid-ask spread of the legs' markets and age that of the oldest quote. 0 if a market has only bids or only asks.",
    ),
  ),
  net_spread: Type.Optional(
    Type.Number({
      description: "Profit per contract at the best prices after taker fees, before rounding of the fees.",
    }),
  ),
  executable_size_usd: Type.Optional(
    nullableAmount(
      "Capital in USD, including fees, that the offers of all legs can take while one more contract is profitable. Null if the venue does not publish a size.",
    ),
  ),
  executable_profit_usd: Type.Optional(nullableAmount("Profit of `executable_size_usd` in USD after all fees.")),
  days_to_resolution: Type.Optional(
    nullableAmount("Days until the later settlement of the legs. Null if one is unknown."),
  ),
  annualized_return: Type.Optional(
    nullableNumber({
      description:
        "`executable_profit_usd` / `executable_size_usd` × 365 / max(`days_to_resolution`, 1): simple interest, as a fraction. Null if a figure is unknown or nothing can be bought.",
    }),
  ),
  legs: Type.Optional(
    Type.Array(Leg(trading), {
      description: "The contracts to buy, with everything needed to recompute the figures.",
    }),
  ),
});

const VenueStateSchema = Type.Object(
  {
    status: oneOf(
      ["starting", "ok", "degraded", "down"],
      "State of the venue's data. Markets of a venue that is `down` are not a leg.",
    ),
    last_success_at: nullableTimestamp("Time of the last usable response of the venue. Null before the first."),
    books_refreshed: Type.Optional(count("Order books that the scan read.")),
    books_failed: Type.Optional(count("Order books that the scan could not read.")),
  },
  { [SCHEMA_NAME]: "ArbitrageVenue" },
);

function listSchema(trading: readonly string[]) {
  const Opportunity = Type.Object(
    {
      event: Type.String({
        description: "Market question; for another `kind` than `cross_venue` the title of the event.",
      }),
      ...Object.fromEntries(trading.map((venue) => [venue, Type.Optional(OpportunityMarket)])),
      ...spreadFields,
      cheaper_on: Type.Optional(
        oneOf(trading, { description: "Venue on which YES is cheaper. Only of `cross_venue`." }),
      ),
      match_confidence: Type.Optional(
        probability("Probability that both markets ask the same question. Only of `cross_venue`."),
      ),
      kind: Type.Optional(
        oneOf(
          OPPORTUNITY_KINDS,
          "Present if it is not `cross_venue`. `legs` and `net_spread` are then present without `expand`.",
        ),
      ),
      platform: Type.Optional(oneOf(trading, { description: "Venue of the event. Not of `cross_venue`." })),
      event_slug: Type.Optional(Type.String({ description: "Slug of the event. Not of `cross_venue`." })),
      strategy: Type.Optional(
        oneOf(
          SET_STRATEGIES,
          "`buy_all_yes`: YES of every market of an exclusive and exhaustive set; one of them pays. `buy_all_no`: NO of markets of which at most one resolves YES; all others pay. `buy_wide_yes_narrow_no`: YES of a threshold or deadline and NO of a stricter one, which implies it; at least one pays.",
        ),
      ),
      payout: Type.Optional(
        Type.Number({ minimum: 1, description: "Smallest payout in USD of one contract of each leg." }),
      ),
      score: scoreField,
      scanned_at: timestamp("Time at which the figures were computed."),
      relation: Type.Optional(
        oneOf(
          ["identical", "inverse"],
          "`identical`: both markets ask the same. `inverse`: YES on one venue is NO on the other.",
        ),
      ),
      match_evidence: Type.Optional(Type.Array(Type.String(), { description: "What the match is based on." })),
      ...figureFields(trading),
    },
    { [SCHEMA_NAME]: "ArbitrageOpportunity" },
  );
  // Venue names are configuration, so the static type comes from the functions that create the body.
  return Type.Unsafe<ReturnType<typeof presentCrossVenueList> | ReturnType<typeof presentSetList>>(
    Type.Object(
      {
        count: count("Number of opportunities in this response."),
        opportunities: Type.Array(Opportunity),
        venues: Type.Object(Object.fromEntries(trading.map((venue) => [venue, VenueStateSchema]))),
        scanned_at: timestamp("Time at which the figures were computed."),
      },
      { [SCHEMA_NAME]: "ArbitrageList" },
    ),
  );
}

const liveQuery = (trading: readonly string[]) => ({
  min_spread: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: MIN_SPREAD_MAX,
      default: MIN_SPREAD_DEFAULT,
      description: "Smallest `spread`.",
    }),
  ),
  min_net_spread: Type.Optional(difference("Smallest `net_spread`. 0 leaves out what has no profit after fees.")),
  platform: Type.Optional(
    emptyIsAbsent(oneOf(trading, { description: "Only return opportunities with a market of this venue." })),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT })),
  expand: Type.Optional(
    commaList(["scoring"], {
      description: "Fields to include in the response: `scoring` (parts of the score, executable size, legs).",
    }),
  ),
});

export type FilterQuery = Static<Type.TObject<ReturnType<typeof liveQuery>>>;

export function createArbitrageSchemas({ trading }: Pick<VenueIds, "trading">) {
  return {
    liveQuery: Type.Object(liveQuery(trading)),
    listQuery: Type.Object({
      ...liveQuery(trading),
      kind: Type.Optional(
        oneOf(OPPORTUNITY_KINDS, {
          default: "cross_venue",
          description:
            "`cross_venue`: the same question on two venues. `exclusive_set`: markets of one event that exclude each other. `ladder`: thresholds or deadlines of one event, of which the stricter ones imply the others.",
        }),
      ),
    }),
    ArbitrageList: listSchema(trading),
  };
}
