import { type BoardMarket, eventSlugOf } from "../../../board/index.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { keysetPages } from "../../../lib/chunks.ts";
import { BackgroundJobs } from "../../../lib/periodic-job.ts";
import type { Matching } from "../matching/index.ts";
import type { MarketDependencies } from "../ports.ts";
import { eventNode, marketNode, type QuestionLink } from "./model.ts";
import { insertLinks, selectObservedMarkets } from "./queries.ts";

const PAUSE_MS = 60_000;
const MARKETS_PER_PAGE = 500;

interface QuestionLinkerDependencies extends Pick<MarketDependencies, "database" | "board" | "clock" | "log"> {
  readonly matching: Pick<Matching, "equalMarketsOf" | "eventPairsOf">;
}

/**
 * Stores once a minute which analysed markets belong to the same question: markets of one event, and matched markets of
 * different venues. A link is kept after its markets are settled, so that a question is never counted twice.
 */
export function createQuestionLinker({ database, board, clock, log, matching }: QuestionLinkerDependencies) {
  const jobs = new BackgroundJobs(clock, log);

  const linksOf = (market: BoardMarket): QuestionLink[] => {
    const node = marketNode(market.listing);
    const equal = matching.equalMarketsOf(market).map(({ market: other }) => other);
    return [
      ...equal.map(({ listing }) => ({ node, linkedNode: marketNode(listing) })),
      // A third market that nobody analysed can link two markets of different venues.
      ...[market, ...equal].flatMap((member) => eventLinksOf(member)),
    ];
  };
  const eventLinksOf = ({ listing }: BoardMarket): QuestionLink[] => {
    const slug = eventSlugOf(listing);
    if (slug === null) return [];
    const event = eventNode(slug);
    return [
      { node: marketNode(listing), linkedNode: event },
      ...matching.eventPairsOf(slug).map(({ a, b }) => ({ node: event, linkedNode: eventNode(a === slug ? b : a) })),
    ];
  };
  /** Stores the links of all observed markets that are on the board. */
  const run = async (): Promise<void> => {
    const selectAfter = (after: MarketRef) => selectObservedMarkets(database, after, MARKETS_PER_PAGE);
    for await (const markets of keysetPages({ venue: "", marketId: "" }, selectAfter)) {
      const links = markets.flatMap(({ venue, marketId }) => {
        const market = board.find(venue, marketId);
        return market === null ? [] : linksOf(market);
      });
      await insertLinks(database, links);
      await clock.yieldToEventLoop();
      if (jobs.isStopping) return;
    }
  };

  return {
    run,
    get failingJobs(): readonly string[] {
      return jobs.failing;
    },
    /** Several nodes may run the job at the same time. */
    start(): void {
      jobs.start("question_links", PAUSE_MS, run);
    },
    stop: (): Promise<void> => jobs.stop(),
  };
}
