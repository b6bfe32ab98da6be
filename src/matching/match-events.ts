import { calibrateForBoard, decideEvents } from "./decide.ts";
import { compareEvents } from "./event-features.ts";
import { combineLegs, type EventFingerprint } from "./event-fingerprint.ts";
import type { Fingerprint } from "./fingerprint.ts";
import { type EventPair, isSameQuestion, type MarketPair, type MatchableMarket } from "./model.ts";
import { MATCHING_COEFFICIENTS, WORD_WEIGHTS } from "./model-data.ts";

/** Maximum number of markets per event whose titles are read. */
const LEGS_READ_MAX = 8;
/** Minimum confidence of an event pair. */
const CONFIDENCE_MIN = 0.5;

interface IndexedLeg extends Pick<MatchableMarket, "title" | "outcomeLabel" | "closeAt" | "expectedResolutionAt"> {
  readonly fingerprint: Fingerprint;
}

interface IndexedEvent {
  title: string | null;
  /** Null before the first use and after a change. */
  fingerprint: EventFingerprint | null;
  readonly markets: Map<string, IndexedLeg>;
}

interface PairState {
  readonly a: string;
  readonly b: string;
  /** Keys of the market pairs between both events. */
  readonly legs: Set<string>;
  pair: EventPair | null;
}

/** Derives pairs of events from the pairs of their markets. */
export class EventMatcher {
  readonly #events = new Map<string, IndexedEvent>();
  readonly #states = new Map<string, PairState>();
  readonly #stateOfLeg = new Map<string, PairState>();

  setMarket(slug: string, market: MatchableMarket, fingerprint: Fingerprint): void {
    const { id, title, outcomeLabel, closeAt, expectedResolutionAt, eventTitle } = market;
    const event: IndexedEvent = this.#events.get(slug) ?? { title: eventTitle, fingerprint: null, markets: new Map() };
    this.#events.set(slug, event);
    event.title = eventTitle;
    event.fingerprint = null;
    event.markets.set(id, { title, outcomeLabel, closeAt, expectedResolutionAt, fingerprint });
  }

  removeMarket(slug: string, id: string): void {
    const event = this.#events.get(slug);
    if (event === undefined) return;
    event.markets.delete(id);
    event.fingerprint = null;
    if (event.markets.size === 0) this.#events.delete(slug);
  }

  /** Applies changes of market pairs. Returns the changes of event pairs. */
  update(
    added: readonly MarketPair[],
    removed: readonly { readonly a: string; readonly b: string }[],
    slugOf: (marketId: string) => string | null,
  ): { addedEvents: EventPair[]; removedEvents: { a: string; b: string }[] } {
    const changed = new Set<PairState>();
    for (const { a, b } of removed) {
      const key = `${a}\n${b}`;
      const state = this.#stateOfLeg.get(key);
      if (state === undefined) continue;
      state.legs.delete(key);
      this.#stateOfLeg.delete(key);
      changed.add(state);
    }
    for (const pair of added) {
      if (!isSameQuestion(pair)) continue;
      const [first, second] = [slugOf(pair.a), slugOf(pair.b)];
      if (first === null || second === null) continue;
      const state = this.#stateFor(first, second);
      const key = `${pair.a}\n${pair.b}`;
      state.legs.add(key);
      this.#stateOfLeg.set(key, state);
      changed.add(state);
    }
    const addedEvents: EventPair[] = [];
    const removedEvents: { a: string; b: string }[] = [];
    for (const state of changed) {
      const next = this.#decide(state);
      if (state.pair !== null) removedEvents.push({ a: state.a, b: state.b });
      if (next !== null) addedEvents.push(next);
      state.pair = next;
      if (state.legs.size === 0) this.#states.delete(`${state.a}\n${state.b}`);
    }
    return { addedEvents, removedEvents };
  }

  #stateFor(first: string, second: string): PairState {
    const [a, b] = first < second ? [first, second] : [second, first];
    const key = `${a}\n${b}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state: PairState = { a, b, legs: new Set(), pair: null };
    this.#states.set(key, state);
    return state;
  }

  #decide({ a, b, legs }: PairState): EventPair | null {
    const eventA = this.#events.get(a);
    const eventB = this.#events.get(b);
    if (legs.size === 0 || eventA === undefined || eventB === undefined) return null;
    const comparison = compareEvents(fingerprintOf(eventA), fingerprintOf(eventB), WORD_WEIGHTS);
    const { relation, probability } = decideEvents(comparison, MATCHING_COEFFICIENTS);
    const confidence = calibrateForBoard(probability, MATCHING_COEFFICIENTS);
    if (relation === null || confidence < CONFIDENCE_MIN) return null;
    const evidence = [
      `${legs.size} of ${Math.min(eventA.markets.size, eventB.markets.size)} markets match one to one.`,
    ];
    return { a, b, confidence, legCount: legs.size, evidence };
  }
}

function fingerprintOf(event: IndexedEvent): EventFingerprint {
  // Sorted, so that the order in which the markets arrive does not matter.
  const ids = [...event.markets.keys()].sort().slice(0, LEGS_READ_MAX);
  const legs = ids.map((id) => event.markets.get(id)).filter((leg) => leg !== undefined);
  const [first] = legs;
  event.fingerprint ??= combineLegs(
    {
      title: event.title ?? first?.title ?? "",
      legs: legs.map(({ title, outcomeLabel }) => (outcomeLabel === null ? title : `${title}: ${outcomeLabel}`)),
      legCount: event.markets.size,
      closeAt: first?.closeAt ?? null,
      expectedResolutionAt: first?.expectedResolutionAt ?? null,
    },
    legs.map(({ fingerprint }) => fingerprint),
  );
  return event.fingerprint;
}
