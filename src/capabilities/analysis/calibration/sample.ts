import { CATEGORIES, type Category } from "../../../domain/category.ts";
import type { Database } from "../../../ports/database.ts";
import { readQuestions } from "../../markets/questions/index.ts";
import { type CalibrationFilter, type CalibrationMode, NO_CATEGORY, PERIOD_MS, type Sample } from "./model.ts";
import { BEFORE_LATEST_SETTLEMENT, type SettlementPosition, selectForecasts, selectSettlements } from "./queries.ts";

/** Markets per statement. A statement blocks the embedded store, so it must be short. */
const PAGE_MARKETS = 500;
/** Only the most recently settled markets count. Their sample takes at most 10 MB of memory. */
const MARKETS_MAX = 50_000;

/** Reads the forecasts of settled markets. @throws AppError `store_unavailable` */
export async function readSample(database: Pick<Database, "query">, mode: CalibrationMode): Promise<Sample> {
  const columns = createColumns();
  const questions = await readQuestions(database);
  const numbers = new Map<string, number>();
  const numberOf = (question: string): number => {
    const number = numbers.get(question) ?? numbers.size;
    numbers.set(question, number);
    return number;
  };
  let after: SettlementPosition = BEFORE_LATEST_SETTLEMENT;
  for (let markets = 0; markets < MARKETS_MAX; ) {
    const page = await selectSettlements(database, after, PAGE_MARKETS);
    for (const { position, horizon, probability, marketPrice, category } of page.length === 0
      ? []
      : await selectForecasts(database, mode, page)) {
      const settled = page[position];
      if (settled === undefined) throw new Error(`A forecast belongs to market ${position} of ${page.length}`);
      columns.market.push(markets + position);
      columns.question.push(numberOf(questions.questionOf(settled)));
      columns.horizon.push(horizon);
      columns.category.push(toCategoryIndex(category));
      columns.probability.push(probability);
      columns.marketPrice.push(marketPrice ?? Number.NaN);
      columns.outcome.push(settled.value);
      columns.resolvedAt.push(settled.resolvedAt);
    }
    markets += page.length;
    after = page.at(-1) ?? after;
    if (page.length < PAGE_MARKETS) break;
  }
  return pack(columns);
}

const createColumns = (): Record<keyof Sample, number[]> => ({
  market: [],
  question: [],
  horizon: [],
  category: [],
  probability: [],
  marketPrice: [],
  outcome: [],
  resolvedAt: [],
});

const pack = (columns: Record<keyof Sample, number[]>): Sample => ({
  market: Int32Array.from(columns.market),
  question: Int32Array.from(columns.question),
  horizon: Uint8Array.from(columns.horizon),
  category: Uint8Array.from(columns.category),
  probability: Float64Array.from(columns.probability),
  marketPrice: Float64Array.from(columns.marketPrice),
  outcome: Float64Array.from(columns.outcome),
  resolvedAt: Float64Array.from(columns.resolvedAt),
});

function toCategoryIndex(category: string | null): number {
  const index = CATEGORIES.indexOf(category as Category);
  return index < 0 ? NO_CATEGORY : index;
}

/** Copies the forecasts that a filter selects. @param now  Unix milliseconds */
export function selectRows(
  sample: Sample,
  { period, category }: Pick<CalibrationFilter, "period" | "category">,
  now: number,
): Sample {
  const settledAfter = now - PERIOD_MS[period];
  const categoryIndex = category === null ? null : CATEGORIES.indexOf(category);
  const rows = new Int32Array(sample.market.length);
  let count = 0;
  for (let row = 0; row < rows.length; row++) {
    if (!((sample.resolvedAt[row] ?? 0) > settledAfter)) continue;
    if (categoryIndex === null || sample.category[row] === categoryIndex) rows[count++] = row;
  }
  const select = <Column extends Sample[keyof Sample]>(column: Column): Column =>
    selectValues(column, rows.subarray(0, count));
  return {
    market: select(sample.market),
    question: select(sample.question),
    horizon: select(sample.horizon),
    category: select(sample.category),
    probability: select(sample.probability),
    marketPrice: select(sample.marketPrice),
    outcome: select(sample.outcome),
    resolvedAt: select(sample.resolvedAt),
  };
}

/** A loop, because `filter` of a typed array takes ten times as long. */
function selectValues<Column extends Sample[keyof Sample]>(column: Column, rows: Int32Array): Column {
  const values = column.slice(0, rows.length) as Column;
  for (let index = 0; index < rows.length; index++) values[index] = column[rows[index] ?? 0] ?? Number.NaN;
  return values;
}
