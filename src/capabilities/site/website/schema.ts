import Type from "typebox";
import { FormId } from "../../../http/html/index.ts";
import { oneOf } from "../../../http/schema-types.ts";
import { emptyIsAbsent } from "../../../http/validation/index.ts";

/** The sort orders of the market list, with their names on the page. */
export const SORT_NAMES = {
  volume_24h: "24 h volume",
  resolution_date: "Closing soon",
  price_change_24h: "Rising price",
  updated_at: "Recently updated",
} as const;
export type MarketSort = keyof typeof SORT_NAMES;

export const SEARCH_LENGTH_MAX = 200;
export const CATEGORY_LENGTH_MAX = 50;

/** @param venues  public ids of the venues that clients can query */
export const createListQuery = (venues: readonly string[]) =>
  Type.Object({
    q: Type.Optional(emptyIsAbsent(Type.String({ maxLength: SEARCH_LENGTH_MAX }))),
    venue: Type.Optional(emptyIsAbsent(oneOf(venues))),
    category: Type.Optional(emptyIsAbsent(Type.String({ maxLength: CATEGORY_LENGTH_MAX }))),
    sort: Type.Optional(emptyIsAbsent(oneOf(Object.keys(SORT_NAMES) as MarketSort[]))),
    cursor: Type.Optional(emptyIsAbsent(Type.String({ maxLength: 2_048 }))),
  });

export const MarketPath = Type.Object({ platform: Type.String(), market_id: Type.String() });

export const PERIODS = ["48h", "7d", "30d"] as const;
export type Period = (typeof PERIODS)[number];
/** Maximum length of the parameter. Every id of an analysis is shorter. */
const ANALYSIS_ID_LENGTH_MAX = 64;
export const MarketQuery = Type.Object({
  period: Type.Optional(emptyIsAbsent(oneOf(PERIODS))),
  /** The analysis that the visitor has started. An unknown id is ignored. */
  analysis: Type.Optional(emptyIsAbsent(Type.String({ maxLength: ANALYSIS_ID_LENGTH_MAX }))),
});

/** The form that starts an analysis. The server checks `csrf` before the handler runs. */
export const AnalyseForm = Type.Object({ form: FormId });
