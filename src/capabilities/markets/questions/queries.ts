import type { MarketRef } from "../../../domain/market-name.ts";
import { keysetPages } from "../../../lib/chunks.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import { eventNodeOf, marketNode, QuestionIndex, type QuestionLink } from "./model.ts";

const LINKS_PER_PAGE = 5_000;

/** Reads all links in pages, and returns the resulting questions. @throws AppError `store_unavailable` */
export async function readQuestions(database: Pick<Database, "query">): Promise<QuestionIndex> {
  const questions = new QuestionIndex();
  const pages = keysetPages<QuestionLink, QuestionLink>({ node: "", linkedNode: "" }, ({ node, linkedNode }) =>
    database.query<QuestionLink>(
      `select node, linked_node as "linkedNode" from question_links
       where (node, linked_node) > ($1::text, $2::text) order by node, linked_node limit $3::int8`,
      [node, linkedNode, LINKS_PER_PAGE],
    ),
  );
  for await (const links of pages) for (const link of links) questions.add(link);
  return questions;
}

/** Stores links. Existing links do not change. */
export async function insertLinks(
  database: Pick<Database, "query"> | Transaction,
  links: readonly QuestionLink[],
): Promise<void> {
  if (links.length === 0) return;
  await database.query(
    `insert into question_links (node, linked_node) select distinct node, linked_node
     from unnest($1::text[], $2::text[]) as link (node, linked_node) order by node, linked_node on conflict do nothing`,
    [links.map(({ node }) => node), links.map(({ linkedNode }) => linkedNode)],
  );
}

/** Stores the link between a market and its event in the store. Call it in the transaction that settles the market. */
export async function insertEventLink(transaction: Transaction, { venue, marketId }: MarketRef): Promise<void> {
  const [row] = await transaction.query<{ eventId: string | null }>(
    `select event_id as "eventId" from markets where venue = $1 and market_id = $2`,
    [venue, marketId],
  );
  const linkedNode = eventNodeOf({ venue, eventId: row?.eventId ?? null });
  if (linkedNode !== null) await insertLinks(transaction, [{ node: marketNode({ venue, marketId }), linkedNode }]);
}

/** Each part has a limit, so that a page reads few rows that it does not return. */
const selectPage = (table: string) => `(select venue, market_id as "marketId" from ${table}
  where (venue, market_id) > ($1::text, $2::text) group by venue, market_id order by venue, market_id limit $3::int8)`;

/** Selects one page of the markets that were analysed or traded by customers. The page begins after `after`. */
export function selectObservedMarkets(database: Database, after: MarketRef, limit: number): Promise<MarketRef[]> {
  return database.query<MarketRef>(
    `${["latest_analyses", "trade_report_counts"].map(selectPage).join(" union ")}
     order by venue, "marketId" limit $3::int8`,
    [after.venue, after.marketId, limit],
  );
}
