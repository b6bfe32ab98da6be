import { sigmoid } from "../../../src/lib/numbers.ts";
import { gaussian } from "../random.ts";
import type { SandboxVenue } from "../types.ts";
import {
  createDescriptions,
  createRules,
  draw,
  type EventDefinition,
  type EventFields,
  forVenues,
  sharedTrap,
  type TemplateInput,
  type VenueTexts,
  YES_LABELS,
} from "./event-definition.ts";

/** Side of a question that a market asks about. */
export type Claim = "yes" | "no";

export interface BinarySpec extends Omit<EventFields, "titles"> {
  readonly subject: VenueTexts;
  readonly question: (claim: Claim, venue: SandboxVenue) => string;
  /** The clause of the rules that follows "if". */
  readonly condition: (claim: Claim, venue: SandboxVenue) => string;
  readonly note?: string;
}

/** Creates an event with one yes/no question. Its traps include the opposite question. */
export function createBinaryEvent(input: TemplateInput, spec: BinarySpec): EventDefinition {
  const { subject, question, condition, note, traps, sides, ...fields } = spec;
  const prior = sigmoid(0.15 + 1.3 * gaussian(input.seed, input.underlying, 103));
  const createEvent = (claim: Claim): EventDefinition => {
    const questions = forVenues((venue) => question(claim, venue));
    return {
      ...fields,
      mutuallyExclusive: false,
      exhaustive: false,
      ladder: false,
      model: { kind: "categorical", priors: [prior, 1 - prior], strength: 1.2 + draw(input, 1) },
      titles: questions,
      descriptions: createDescriptions(subject),
      markets: [
        {
          labels: YES_LABELS,
          questions,
          rules: createRules(
            forVenues((venue) => condition(claim, venue)),
            note,
          ),
          strike: null,
          criterion: { kind: "outcome", index: claim === "yes" ? 0 : 1 },
          resembles: 0,
        },
      ],
    };
  };
  return {
    ...createEvent("yes"),
    sides,
    traps: () => [sharedTrap("polarity", { ...createEvent("no"), series: `${spec.series}NOT` }), ...(traps?.() ?? [])],
  };
}
