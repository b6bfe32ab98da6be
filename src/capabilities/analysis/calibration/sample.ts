import { CATEGORIES, type Category } from "../../../domain/category.ts";
import type { Database } from "../../../ports/database.ts";
import { readQuestions } from "../../markets/questions/index.ts";
import {
  type CalibrationFilter,
  type CalibrationMode,
  type CalibrationSample,
  NO_CATEGORY,
  PERIOD_MS,
  SAMPLE_COLUMNS,
} from "./model.ts";
import { BEFORE_LATEST_SETTLEMENT, type SettlementPosition, selectForecasts, selectSettlements } from "./queries.ts";

/** Maximum number of markets per statement. A statement blocks the embedded store, so it must be short. */
const PAGE_MARKETS = 500;
/** Maximum number of markets, the most recently settled first. The sample takes at most 10 MB of memory. */
const MARKETS_MAX = 50_000;

/** Reads the forecasts of settled markets. @throws AppError `store_unavailable` */
export async function readSample(database: Pick<Database, "query">, mode: CalibrationMode): Promise<CalibrationSample> {
  const columns = mapColumns((): number[] => []);
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
  // `from` of each column creates an array of the type of that column.
  return mapColumns((name) => SAMPLE_COLUMNS[name].from(columns[name])) as CalibrationSample;
}

type ColumnName = keyof CalibrationSample;
const COLUMN_NAMES = Object.keys(SAMPLE_COLUMNS) as ColumnName[];

const mapColumns = <Value>(columnOf: (name: ColumnName) => Value): Record<ColumnName, Value> =>
  Object.fromEntries(COLUMN_NAMES.map((name) => [name, columnOf(name)])) as Record<ColumnName, Value>;

function toCategoryIndex(category: string | null): number {
  const index = CATEGORIES.indexOf(category as Category);
  return index < 0 ? NO_CATEGORY : index;
}

/** Returns a copy of the forecasts that a filter selects. @param now  Unix milliseconds */
export function filterSample(
  sample: CalibrationSample,
  { period, category }: Pick<CalibrationFilter, "period" | "category">,
  now: number,
): CalibrationSample {
  const settledAfter = now - PERIOD_MS[period];
  const categoryIndex = category === null ? null : CATEGORIES.indexOf(category);
  const rows = new Int32Array(sample.market.length);
  let count = 0;
  for (let row = 0; row < rows.length; row++) {
    if (!((sample.resolvedAt[row] ?? 0) > settledAfter)) continue;
    if (categoryIndex === null || sample.category[row] === categoryIndex) rows[count++] = row;
  }
  return mapColumns((name) => selectValues(sample[name], rows.subarray(0, count))) as CalibrationSample;
}

/** Uses a loop, because `filter` of a typed array takes ten times as long. */
function selectValues<Column extends CalibrationSample[keyof CalibrationSample]>(
  column: Column,
  rows: Int32Array,
): Column {
  const values = column.slice(0, rows.length) as Column;
  for (let index = 0; index < rows.length; index++) values[index] = column[rows[index] ?? 0] ?? Number.NaN;
  return values;
}
