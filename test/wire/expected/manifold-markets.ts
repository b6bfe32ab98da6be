/** What Manifold's contracts and answers mean. */
import { containing, type Expectation, type Expected, exactly, oneOf, price } from "../expectation.ts";
import { isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import {
  activityFacts,
  type ExpectedMarket,
  type ExpectedStatus,
  leftOutMarket,
  outcome,
  settledAt,
  takerFee,
  timeFact,
} from "./market.ts";
import { tradablePrice } from "./price.ts";

const ANY_OUTCOME: Expectation = { text: "any outcome", matches: () => true };

export const isContract = (row: JsonObject): boolean =>
  typeof row.id === "string" && typeof row.question === "string" && typeof row.outcomeType === "string";

export function answersOf(contract: JsonObject): JsonObject[] {
  return listOf(contract.answers).filter(isObject);
}

/** Types whose answers are yes-or-no questions; only the first is required. */
const ANSWER_TYPES: readonly unknown[] = ["MULTIPLE_CHOICE", "NUMBER", "MULTI_NUMERIC", "DATE"];

/** Whether each answer of a contract is a market. The answers of numeric and date contracts are buckets. */
export function hasAnswerMarkets(contract: JsonObject): boolean {
  return ANSWER_TYPES.includes(contract.outcomeType) && answersOf(contract).length > 0;
}

/** A yes-or-no contract is one market; a contract with answers is an event with one market per answer. */
export function expectedManifoldMarkets(contract: JsonObject, capturedAt: number): ExpectedMarket[] {
  if (contract.outcomeType === "BINARY") return [expectedBinary(contract, capturedAt)];
  if (!hasAnswerMarkets(contract)) return [leftOutMarket(String(contract.id), contract, "not_binary")];
  const isOptional = contract.outcomeType !== "MULTIPLE_CHOICE";
  return answersOf(contract).map((answer) => ({ ...expectedAnswer(contract, answer, capturedAt), isOptional }));
}

function contractStatus(contract: JsonObject, capturedAt: number): ExpectedStatus {
  if (contract.isResolved === true) return "finalized";
  const closeAt = numberOf(contract.closeTime);
  return closeAt !== null && closeAt <= capturedAt ? "closed" : "active";
}

/** Play money: no amount is in dollars. The venue has no book; its probability is the price. */
function sharedFacts(contract: JsonObject, probability: number | null): Expected {
  return {
    bid: exactly(null),
    ask: exactly(null),
    bid_size: exactly(null),
    ask_size: exactly(null),
    last_price: exactly(null),
    yes_price: price(probability),
    ...activityFacts({ volume24h: null, volumeTotal: null, liquidity: null, openInterest: null }),
    ...takerFee(() => 0),
    open_time: timeFact(numberOf(contract.createdTime)),
    close_time: timeFact(numberOf(contract.closeTime)),
  };
}

function expectedBinary(contract: JsonObject, capturedAt: number): ExpectedMarket {
  const status = contractStatus(contract, capturedAt);
  const probability = tradablePrice(contract.probability);
  return {
    id: String(contract.id),
    raw: contract,
    leftOut: null,
    isListed: status === "active" && probability !== null,
    isUnpriced: probability === null,
    facts: {
      event_id: exactly(null),
      title: containing(String(contract.question)),
      status: exactly(status),
      outcome: status === "finalized" ? resolvedOutcome(contract) : outcome(null),
      ...sharedFacts(contract, probability),
      resolved_time: timeFact(status === "finalized" ? numberOf(contract.resolutionTime) : null),
    },
  };
}

function expectedAnswer(contract: JsonObject, answer: JsonObject, capturedAt: number): ExpectedMarket {
  const isResolved = textOf(answer.resolution) !== null;
  const status = isResolved ? "finalized" : contractStatus(contract, capturedAt);
  const probability = tradablePrice(answer.probability);
  const exclusive = contract.shouldAnswersSumToOne;
  return {
    id: `${contract.id}:${answer.id}`,
    raw: { ...answer, contract: { ...contract, answers: "…" } },
    leftOut: null,
    isListed: status === "active" && probability !== null,
    isUnpriced: probability === null,
    facts: {
      event_id: exactly(contract.id),
      title: containing(String(contract.question), String(answer.text)),
      label: containing(String(answer.text)),
      status: exactly(status),
      outcome: status === "finalized" ? answerOutcome(contract, answer) : outcome(null),
      ...sharedFacts(contract, probability),
      event_title: containing(String(contract.question)),
      ...(typeof exclusive === "boolean"
        ? { mutually_exclusive: exactly(exclusive), exhaustive: exactly(exclusive) }
        : {}),
    },
  };
}

/**
 * MKT pays `resolutionProbability`. Without it the venue pays the probability at the resolution, which the row's
 * probability equals; an adapter may also call the outcome unknown.
 */
function resolvedOutcome(row: JsonObject): Expectation {
  if (row.resolution === "YES") return outcome("yes");
  if (row.resolution === "NO") return outcome("no");
  if (row.resolution === "CANCEL") return outcome("void");
  if (row.resolution !== "MKT") return outcome(null);
  const stated = numberOf(row.resolutionProbability);
  if (stated !== null) return settledAt(Math.round(stated * 1e6) / 1e6);
  const probability = tradablePrice(row.probability);
  return probability === null ? outcome(null) : oneOf(settledAt(probability), outcome(null));
}

/** Exclusive answers are resolved with the contract: one winner, or shares by answer id. */
function answerOutcome(contract: JsonObject, answer: JsonObject): Expectation {
  const { resolution } = contract;
  const isChoice = resolution === "MKT" || resolution === "CHOOSE_MULTIPLE";
  if (isChoice && isObject(contract.resolutions)) {
    const shares = Object.values(contract.resolutions).map((share) => numberOf(share) ?? 0);
    const total = shares.reduce((sum, share) => sum + share, 0);
    const own = numberOf(objectOf(contract.resolutions)[String(answer.id)]) ?? 0;
    return total > 0 ? settledAt(Math.round((own / total) * 1e6) / 1e6) : outcome(null);
  }
  // Without shares a choice of several answers is known only from the answers, whose meaning then is not documented.
  if (isChoice && contract.shouldAnswersSumToOne !== false) return ANY_OUTCOME;
  if (textOf(answer.resolution) !== null) return resolvedOutcome(answer);
  if (resolution === "CANCEL") return outcome("void");
  if (resolution === answer.id) return outcome("yes");
  return answersOf(contract).some(({ id }) => id === resolution) ? outcome("no") : outcome(null);
}
