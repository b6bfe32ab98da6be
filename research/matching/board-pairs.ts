/**
 * Finds the candidate pairs of the matcher's search among listed questions. Few candidates ask the same question, while
 * almost half of the labelled pairs do. The model is fitted to both sets.
 */
import { createHash } from "node:crypto";
import { CandidateIndex } from "../../src/matching/candidate-index.ts";
import { findMarketVetoes } from "../../src/matching/decide.ts";
import { compareMarkets } from "../../src/matching/features.ts";
import { createFingerprint } from "../../src/matching/fingerprint.ts";
import { CANDIDATES_MAX, searchTerms, TERM_SHARE_MIN } from "../../src/matching/search-terms.ts";
import type { WordWeights } from "../../src/matching/text/word-weights.ts";
import labels from "./board-labels.json" with { type: "json" };
import type { ListingRow, PairRow } from "./rows.ts";
import { BOARD } from "./train.ts";

/** The listed questions are from the same source as some labelled pairs, so both are in one fold. */
const SOURCE = "forecastingresearch/forecastbench-datasets";

/**
 * Returns the candidates without a veto as labelled pairs. The labels were assigned by reading both titles. Pairs
 * labelled as unclear are skipped. `rows` must not contain duplicate questions.
 */
export function findCandidatePairs(rows: readonly ListingRow[], weightOf: WordWeights): PairRow[] {
  const same = new Set(labels.same);
  const unclear = new Set(labels.unclear);
  const venues = [...new Set(rows.map(({ venue }) => venue))];
  const venueOf = ({ venue }: ListingRow) => venues.indexOf(venue);
  const fingerprints = rows.map(({ title, close }) =>
    createFingerprint({
      title,
      outcomeLabel: null,
      eventTitle: null,
      closeAt: close == null ? null : Date.parse(close),
      expectedResolutionAt: null,
    }),
  );
  const index = new CandidateIndex();
  for (const [row, fingerprint] of fingerprints.entries()) {
    const listing = rows[row];
    if (listing !== undefined) index.set(row, venueOf(listing), searchTerms(fingerprint, weightOf, 0));
  }
  const pairs = new Map<string, PairRow>();
  for (const [row, fingerprint] of fingerprints.entries()) {
    const a = rows[row];
    if (a === undefined) continue;
    const options = { row, limit: CANDIDATES_MAX, shareMin: TERM_SHARE_MIN };
    for (const other of index.find(searchTerms(fingerprint, weightOf, 1), options)) {
      const b = rows[other];
      const otherFingerprint = fingerprints[other];
      if (b === undefined || otherFingerprint === undefined) continue;
      const key = keyOf(a, b);
      if (pairs.has(key) || unclear.has(key)) continue;
      if (findMarketVetoes(compareMarkets(fingerprint, otherFingerprint, weightOf)).length > 0) continue;
      pairs.set(key, { a, b, same: same.has(key), relation: BOARD, grain: "market", source_repo: SOURCE });
    }
  }
  return [...pairs.values()];
}

/** Hashes both ids, so that the label file does not contain the ids of questions. */
function keyOf(a: ListingRow, b: ListingRow): string {
  const ids = [a, b].map(({ venue, id }) => `${venue}/${id}`).sort();
  return createHash("sha256").update(ids.join("|")).digest("hex").slice(0, 16);
}
