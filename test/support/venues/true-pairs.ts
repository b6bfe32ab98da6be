import type { RunningSandbox } from "../../../sandbox/main.ts";
import type { MarketPair } from "../../../src/matching/index.ts";

interface TruePair {
  readonly a: string;
  readonly b: string;
  readonly relation: string;
  /** Kind of the trap if the titles are similar but the questions differ; otherwise null. */
  readonly trap: string | null;
}

interface TrueSide {
  readonly venue: string;
  readonly market_id: string;
}

const isExact = (relation: string): relation is "identical" | "inverse" =>
  relation === "identical" || relation === "inverse";

/** Reads the true relations of the listed markets from the sandbox. `a` is lower than `b`. */
export async function readTruth(sandbox: RunningSandbox): Promise<TruePair[]> {
  const pairs: TruePair[] = [];
  for (let cursor: string | null = "0"; cursor !== null; ) {
    const response = await fetch(`${sandbox.urls.control?.rest}/truth/pairs?limit=2000&cursor=${cursor}`);
    const page = (await response.json()) as {
      readonly pairs: readonly { a: TrueSide; b: TrueSide; relation: string; trap: string | null }[];
      readonly next_cursor: string | null;
    };
    for (const { a, b, relation, trap } of page.pairs) {
      const [first = "", second = ""] = [a, b].map(({ venue, market_id }) => `${venue}/${market_id}`).sort();
      pairs.push({ a: first, b: second, relation, trap });
    }
    cursor = page.next_cursor;
  }
  return pairs;
}

/** The pairs that an ideal matcher finds. */
export async function readTruePairs(sandbox: RunningSandbox): Promise<MarketPair[]> {
  const truth = await readTruth(sandbox);
  return truth.flatMap(({ a, b, relation }): MarketPair[] =>
    isExact(relation)
      ? [{ a, b, relation, confidence: 1, evidence: ["The sandbox created both."], source: "model" }]
      : [],
  );
}
