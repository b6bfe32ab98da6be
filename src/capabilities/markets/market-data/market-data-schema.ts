import Type, { type Static } from "typebox";
import { CATEGORIES } from "../../../domain/category.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import { amount, nullableNumber, nullableOneOf, oneOf, probability, timestamp } from "../../../http/schema-types.ts";
import { emptyIsAbsent } from "../../../http/validation/index.ts";
import { CANDLE_INTERVALS_MS, type CandleInterval } from "./time-range.ts";

export const usd = (description: string) => amount(`${description} Rounded to cents.`);
export const limitSchema = (maximum: number, fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, default: fallback }));
export const cursorSchema = Type.Optional(
  emptyIsAbsent(Type.String({ maxLength: 2_048, description: "Cursor from the `Link` header of the previous page." })),
);
export const categorySchema = oneOf(CATEGORIES, { description: "One of our categories, the same for all venues." });

const PERIODS = ["48h", "7d", "30d"] as const;
export type Period = (typeof PERIODS)[number];
const CANDLE_INTERVALS = Object.keys(CANDLE_INTERVALS_MS) as CandleInterval[];

export const DEPTH_DEFAULT = 25;
export const TRADES_LIMIT_DEFAULT = 100;

export const orderBookQuery = Type.Object({
  depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      default: DEPTH_DEFAULT,
      description: "Maximum number of levels per side.",
    }),
  ),
});

export const tradesQuery = Type.Object({ limit: limitSchema(500, TRADES_LIMIT_DEFAULT), cursor: cursorSchema });

export const historyQuery = Type.Object({
  period: Type.Optional(oneOf(PERIODS, { description: "Period that ends now. The default is `7d`." })),
  max_points: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 200,
      description: "Maximum number of points of a period. The default is 48.",
    }),
  ),
  from: Type.Optional(
    emptyIsAbsent(
      Type.String({
        maxLength: 40,
        description:
          "Start of the range, ISO 8601, UTC unless it has an offset. The interval that contains it is included.",
      }),
    ),
  ),
  to: Type.Optional(
    emptyIsAbsent(Type.String({ maxLength: 40, description: "End of the range, ISO 8601. The default is now." })),
  ),
  interval: Type.Optional(
    oneOf(CANDLE_INTERVALS, { description: "Length of each interval. Requires `from`, and excludes `period`." }),
  ),
});

export type HistoryQuery = Static<typeof historyQuery>;

const BookLevel = Type.Object(
  {
    price: probability("Price of a YES contract."),
    size: Type.Number({ exclusiveMinimum: 0, description: "Number of contracts." }),
  },
  { [SCHEMA_NAME]: "BookLevel" },
);

export const orderBookSchema = (platform: ReturnType<typeof oneOf>) =>
  Type.Object(
    {
      platform,
      market_id: Type.String(),
      book_type: oneOf(["clob", "amm"], {
        description:
          "`clob` is an order book. `amm` is an automated market maker, which has none: both sides are empty.",
      }),
      bids: Type.Array(BookLevel, { description: "Orders to buy YES, highest price first." }),
      asks: Type.Array(BookLevel, { description: "Orders to sell YES, lowest price first." }),
      last_price: nullableNumber("Price of the last trade. Null if there is none."),
      updated_at: timestamp("Time at which the venue last confirmed the book."),
      stale: Type.Boolean({
        description:
          "Whether the book could not be read, so that this is the last known one. It is at most five minutes old.",
      }),
    },
    { [SCHEMA_NAME]: "OrderBook" },
  );

const Trade = Type.Object(
  {
    trade_id: Type.String({ description: "Id of the trade, unique within the market." }),
    executed_at: timestamp("Time of the trade."),
    side: nullableOneOf(
      ["yes", "no"],
      "What the taker bought. Selling YES is buying NO. Null if the venue does not say.",
    ),
    yes_price: probability("Price of a YES contract. A NO contract was bought at 1 minus this price."),
    size: Type.Number({ exclusiveMinimum: 0, description: "Number of contracts." }),
    size_usd: nullableNumber(
      "USD that the taker paid: the price of the side bought times the size. Null without a side.",
    ),
  },
  { [SCHEMA_NAME]: "Trade" },
);

export const TradeList = Type.Array(Trade);

export const historySchema = (platform: ReturnType<typeof oneOf>) =>
  Type.Object(
    {
      platform,
      market_id: Type.String(),
      period: Type.Optional(
        oneOf(PERIODS, { description: "The requested period. Absent with `from` and `interval`." }),
      ),
      interval_seconds: Type.Integer({ description: "Length of each interval in seconds, aligned to UTC." }),
      points: Type.Array(
        Type.Object(
          {
            timestamp: timestamp("Start of the interval."),
            yes_price: probability("Last price at or before the end of the interval."),
            bid: nullableNumber("Best YES bid at the end of the interval."),
            ask: nullableNumber("Best YES ask at the end of the interval."),
            volume: nullableNumber("USD traded in the interval, rounded to cents. Null if unknown."),
            open: probability("First price observed in the interval, or the previous close if there is none."),
            high: probability("Highest of `open`, `close` and the prices observed in the interval."),
            low: probability("Lowest of `open`, `close` and the prices observed in the interval."),
            close: probability("Same as `yes_price`."),
          },
          { [SCHEMA_NAME]: "HistoryPoint" },
        ),
      ),
      generated_at: timestamp("Time at which this history was generated."),
    },
    { [SCHEMA_NAME]: "History" },
  );
