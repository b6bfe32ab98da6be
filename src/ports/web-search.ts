/** A result of a search engine. All texts come from third parties. */
export interface SearchHit {
  /** http or https. */
  readonly url: string;
  readonly title: string;
  /** Unix milliseconds; null if unknown. */
  readonly publishedAt: number | null;
}

export interface SearchRequest {
  readonly query: string;
  /** Latest publication time of the results, Unix milliseconds. Ignored if the engine cannot filter by it. */
  readonly publishedUntil: number;
  readonly hitsMax: number;
  readonly signal: AbortSignal;
}

export interface WebSearch {
  readonly name: string;
  /** Returns the best hits first. Rejects if the engine fails or the signal aborts. */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
}
