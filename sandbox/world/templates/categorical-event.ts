import { gaussian } from "../random.ts";
import type { SandboxVenue } from "../types.ts";
import type { Claim } from "./binary-event.ts";
import {
  createDescriptions,
  createRules,
  createSingleEvent,
  draw,
  type EventDefinition,
  type EventFields,
  forVenues,
  type MarketDefinition,
  sharedTrap,
  type TemplateInput,
  type TrapDefinition,
  type TrapKind,
  type VenueTexts,
} from "./event-definition.ts";

export interface CategoricalSpec extends EventFields {
  readonly names: readonly string[];
  /** True if the names cover all possible outcomes. */
  readonly exhaustive: boolean;
  readonly subject: VenueTexts;
  readonly label?: (name: string, venue: SandboxVenue) => string;
  readonly question: (name: string, claim: Claim, venue: SandboxVenue) => string;
  /** The clause of the rules that follows "if". */
  readonly condition: (name: string, claim: Claim, venue: SandboxVenue) => string;
  /** A name similar to the listed name `to`. It is one of the outcomes that are not listed. */
  readonly similar?: { readonly name: string; readonly to: string };
  /** True if venues list placeholders for names that are added later. */
  readonly hasPlaceholders?: boolean;
}

/**
 * Creates an event with several named outcomes. At most one of them resolves YES. Its traps include the opposite
 * question about one outcome.
 */
export function createCategoricalEvent(input: TemplateInput, spec: CategoricalSpec): EventDefinition {
  const { names, exhaustive, subject, label, question, condition, similar, hasPlaceholders, traps, ...fields } = spec;
  const labelOf = label ?? ((name: string) => name);
  const createMarket = (name: string, claim: Claim, index: number): MarketDefinition => ({
    labels: forVenues((venue) => labelOf(name, venue)),
    questions: forVenues((venue) => question(name, claim, venue)),
    rules: createRules(forVenues((venue) => condition(name, claim, venue))),
    strike: null,
    criterion: claim === "yes" ? { kind: "outcome", index } : { kind: "not", criterion: { kind: "outcome", index } },
    resembles: index,
  });
  const event: EventDefinition = {
    ...fields,
    mutuallyExclusive: true,
    exhaustive,
    ladder: false,
    model: {
      kind: "categorical",
      priors: drawPriors(input, names.length + (exhaustive ? 0 : 1)),
      strength: 1 + draw(input, 2),
    },
    descriptions: createDescriptions(subject),
    markets: names.map((name, index) => createMarket(name, "yes", index)),
  };
  const createSingleTrap = (kind: TrapKind, market: MarketDefinition) =>
    sharedTrap(kind, createSingleEvent(event, `${spec.series}ONE`, market));
  const listTraps = (): TrapDefinition[] => {
    const chosen = Math.floor(names.length * draw(input, 30));
    const kinds = [createSingleTrap("polarity", createMarket(names[chosen] ?? "", "no", chosen))];
    const unlisted = exhaustive ? null : names.length;
    if (unlisted !== null && similar !== undefined)
      kinds.push(
        createSingleTrap("candidate", {
          ...createMarket(similar.name, "yes", unlisted),
          resembles: Math.max(0, names.indexOf(similar.to)),
        }),
      );
    if (unlisted !== null && hasPlaceholders === true)
      kinds.push(createSingleTrap("placeholder", { ...createMarket("Person B", "yes", unlisted), resembles: chosen }));
    return [...kinds, ...(traps?.() ?? [])];
  };
  return { ...event, traps: listTraps };
}

/** Random priors that sum to 1: the softmax of standard normal numbers. */
function drawPriors(input: TemplateInput, count: number): number[] {
  const weights = Array.from({ length: count }, (_, index) =>
    Math.exp(gaussian(input.seed, input.underlying, 102, index)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
