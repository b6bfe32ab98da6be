/** Manifold's REST paths and WebSocket over recorded rows. */
import { isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.ts";
import { type LoopbackReply, type LoopbackRequest, NOT_FOUND, type Respond } from "./loopback.ts";

const BASE_PATH = "/v0";
const BETS_MAX = 1_000;
/** Documented parameters by path; the venue refuses others. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  "/search-markets": [
    "term",
    "filter",
    "sort",
    "contractType",
    "limit",
    "offset",
    "beforeTime",
    "topicSlug",
    "creatorId",
    "liquidity",
    "hasBets",
    "token",
    "includeLiteAnswers",
  ],
  "/bets": [
    "id",
    "userId",
    "username",
    "contractId",
    "contractSlug",
    "answerId",
    "limit",
    "before",
    "after",
    "beforeTime",
    "afterTime",
    "order",
    "kinds",
    "minAmount",
    "filterRedemptions",
    "includeZeroShareRedemptions",
  ],
  "/bet-points": [
    "contractId",
    "answerId",
    "limit",
    "beforeTime",
    "afterTime",
    "filterRedemptions",
    "includeZeroShareRedemptions",
  ],
};

export interface ManifoldWorld {
  readonly now: number;
  readonly contracts?: readonly JsonObject[];
  readonly bets?: readonly JsonObject[];
}

export function manifoldRespond(world: ManifoldWorld): Respond {
  const { contracts = [], bets = [] } = world;
  return (_service, { path: fullPath, query }: LoopbackRequest) => {
    if (!fullPath.startsWith(`${BASE_PATH}/`)) return null;
    const path = fullPath.slice(BASE_PATH.length);
    const parameters = PARAMETERS[path];
    const unknown = parameters === undefined ? undefined : [...query.keys()].find((name) => !parameters.includes(name));
    if (unknown !== undefined) return { status: 400, json: { message: `unknown parameter ${unknown}` } };
    if (path === "/search-markets") return { json: search(contracts, query, world.now) };
    if (path === "/bets" || path === "/bet-points") return { json: selectBets(bets, query) };
    const [, contractId] = /^\/market\/([^/]+)\/prob$/.exec(path) ?? [];
    if (contractId !== undefined) return probabilities(contracts.find((row) => row.id === contractId));
    const [, kind, id] = /^\/(market|slug)\/([^/]+)$/.exec(path) ?? [];
    if (kind === undefined) return null;
    const found = contracts.find((row) => row[kind === "market" ? "id" : "slug"] === id);
    return found === undefined ? NOT_FOUND : { json: found };
  };
}

/** Current probabilities: of the contract, or of each answer. Not found if the recorded row lacks them. */
function probabilities(contract: JsonObject | undefined): LoopbackReply {
  const answers = listOf(contract?.answers).filter(isObject);
  if (answers.length === 0)
    return contract?.probability === undefined ? NOT_FOUND : { json: { prob: contract.probability } };
  if (answers.some((answer) => answer.probability === undefined)) return NOT_FOUND;
  return { json: { answerProbs: Object.fromEntries(answers.map(({ id, probability }) => [id, probability])) } };
}

/** Contracts of one type, newest or latest updated first. The old multiple-choice contracts have exclusive answers. */
function search(contracts: readonly JsonObject[], query: URLSearchParams, now: number): JsonObject[] {
  const contractType = query.get("contractType") ?? "ALL";
  const before = numberOf(query.get("beforeTime")) ?? Number.POSITIVE_INFINITY;
  const sortField = query.get("sort") === "last-updated" ? "lastUpdatedTime" : "createdTime";
  const offset = Number(query.get("offset") ?? 0);
  return contracts
    .filter((row) => {
      const isOpen = row.isResolved !== true && (numberOf(row.closeTime) ?? Number.POSITIVE_INFINITY) > now;
      const isBefore = (numberOf(row.createdTime) ?? 0) < before;
      return isBefore && isTypeOf(row, contractType) && (query.get("filter") !== "open" || isOpen);
    })
    .toSorted((a, b) => (numberOf(b[sortField]) ?? 0) - (numberOf(a[sortField]) ?? 0))
    .slice(offset, offset + Number(query.get("limit") ?? 100));
}

function isTypeOf(row: JsonObject, contractType: string): boolean {
  if (contractType === "ALL" || contractType === row.outcomeType) return true;
  const isIndependent = row.shouldAnswersSumToOne === false;
  if (row.outcomeType !== "MULTIPLE_CHOICE") return false;
  return contractType === (isIndependent ? "INDEPENDENT_MULTIPLE_CHOICE" : "DEPENDENT_MULTIPLE_CHOICE");
}

function selectBets(bets: readonly JsonObject[], query: URLSearchParams): JsonObject[] {
  const answerId = query.get("answerId");
  const contractId = query.get("contractId");
  const before = numberOf(query.get("beforeTime")) ?? Number.POSITIVE_INFINITY;
  const after = numberOf(query.get("afterTime")) ?? Number.NEGATIVE_INFINITY;
  const areRedemptionsHidden = query.get("filterRedemptions") === "true";
  const areZeroSharesShown = query.get("includeZeroShareRedemptions") === "true";
  const sign = query.get("order") === "asc" ? 1 : -1;
  return bets
    .filter((bet) => {
      const at = numberOf(bet.createdTime) ?? 0;
      const isHidden = areRedemptionsHidden && bet.isRedemption === true && !(areZeroSharesShown && bet.shares === 0);
      const isOfMarket =
        (contractId === null || bet.contractId === undefined || bet.contractId === contractId) &&
        (answerId === null || textOf(bet.answerId) === answerId);
      return isOfMarket && !isHidden && at > after && at < before;
    })
    .toSorted((a, b) => sign * ((numberOf(a.createdTime) ?? 0) - (numberOf(b.createdTime) ?? 0)))
    .slice(0, Number(query.get("limit") ?? BETS_MAX));
}

/** The server side of the WebSocket: acknowledges every message and counts subscriptions. */
export class ManifoldSocket {
  readonly topics = new Set<string>();
  #subscriptions = 0;

  get subscriptions(): number {
    return this.#subscriptions;
  }

  readonly onText = (text: string, reply: (text: string) => void): void => {
    const message: unknown = JSON.parse(text);
    if (!isObject(message)) return;
    if (message.type === "subscribe") {
      this.#subscriptions += 1;
      for (const topic of listOf(message.topics)) this.topics.add(String(topic));
    }
    reply(JSON.stringify({ type: "ack", txid: objectOf(message).txid, success: true }));
  };
}
