/** Manifold's REST paths and WebSocket over recorded rows. */
import { collect, framesOf, isObject, type JsonObject, listOf, objectOf, splitByRepeatedId, textOf } from "../json.ts";
import type { Recording } from "../recording.ts";
import { NOT_FOUND, openTimes, type Replay, UNKNOWN_PATH } from "../replay.ts";

const HOUR_MS = 3_600_000;
/** Number of intervals into which the prices of a recording of bets are divided. */
const INTERVALS = 60;

interface World {
  readonly now: number;
  readonly contracts: readonly JsonObject[];
  readonly bets?: readonly JsonObject[];
}

const isContract = (row: JsonObject) => typeof row.outcomeType === "string" && typeof row.question === "string";
const answersOf = ({ answers }: JsonObject) => listOf(answers).filter(isObject);
const marketIdOf = ({ contractId, answerId }: JsonObject) =>
  typeof answerId === "string" ? `${contractId}:${answerId}` : String(contractId);

export function replayManifold({ payload, capturedAt, kind }: Recording): Replay[] {
  if (kind === "markets") {
    return splitByRepeatedId(collect(payload, isContract), (row) => String(row.id)).map((contracts) => ({
      reply: replyOf({ now: capturedAt, contracts }),
      ids: contracts.flatMap((row) => {
        const answers = answersOf(row).map(({ id }) => `${row.id}:${id}`);
        return answers.length === 0 ? [String(row.id)] : answers;
      }),
    }));
  }
  if (kind === "stream") {
    const frames = framesOf(payload).map(({ frame, receivedAt }) => ({ frame: objectOf(frame), receivedAt }));
    const data = frames.map(({ frame }) => objectOf(frame.data));
    const bets = data.flatMap((each) => listOf(each.bets).filter(isObject));
    return [
      {
        reply: replyOf({ now: capturedAt, contracts: contractsOf(bets, capturedAt) }),
        ids: [...new Set(bets.map(marketIdOf))],
        frames: frames
          .filter(({ frame }) => frame.type === "broadcast")
          .map(({ frame, receivedAt }) => ({ message: JSON.stringify(frame), at: receivedAt ?? capturedAt })),
        answer: (text) => [{ type: "ack", txid: objectOf(JSON.parse(text)).txid, success: true }],
      },
    ];
  }
  const bets = collect(payload, (row) => "probAfter" in row && "createdTime" in row).map(
    (row): JsonObject => ({ contractId: "recordedContract", ...row }),
  );
  const ids = [...new Set(bets.map(marketIdOf))];
  const ranges = new Map(
    ids.map((id) => {
      const times = bets.filter((bet) => marketIdOf(bet) === id).map(({ createdTime }) => Number(createdTime));
      const [first, last] = [Math.min(...times), Math.max(...times)];
      const intervalMs = Math.max(1, Math.ceil((last - first) / HOUR_MS / INTERVALS)) * HOUR_MS;
      const floor = (at: number) => Math.floor(at / intervalMs) * intervalMs;
      return [id, { fromMs: floor(first), toMs: floor(last) + intervalMs, intervalMs }];
    }),
  );
  const reply = replyOf({ now: capturedAt, contracts: contractsOf(bets, capturedAt), bets });
  return [{ reply, ids, ranges, hasTrades: kind === "trades" }];
}

function replyOf({ now, contracts, bets = [] }: World): Replay["reply"] {
  return ({ path, query }) => {
    if (path === "/search-markets") return search(contracts, query, now);
    if (path === "/bets" || path === "/bet-points") return selectBets(bets, query);
    const [, kind = "", id = "", detail = ""] = /^\/(market|slug)\/([^/]+)(?:\/(prob))?$/.exec(path) ?? [];
    if (kind === "") return UNKNOWN_PATH;
    const contract = contracts.find((row) => row[kind === "market" ? "id" : "slug"] === id);
    if (detail === "" || contract === undefined) return contract ?? NOT_FOUND;
    const answers = answersOf(contract).map(({ id: answerId, probability }) => [answerId, probability] as const);
    const known = answers.length === 0 ? [contract.probability] : answers.map(([, probability]) => probability);
    if (known.includes(undefined)) return NOT_FOUND;
    return answers.length === 0 ? { prob: contract.probability } : { answerProbs: Object.fromEntries(answers) };
  };
}

/** Contracts of one type, newest or latest updated first. */
function search(contracts: readonly JsonObject[], query: URLSearchParams, now: number): JsonObject[] {
  const type = query.get("contractType") ?? "ALL";
  const before = Number(query.get("beforeTime") ?? Number.POSITIVE_INFINITY);
  const sortField = query.get("sort") === "last-updated" ? "lastUpdatedTime" : "createdTime";
  const offset = Number(query.get("offset") ?? 0);
  return contracts
    .filter(({ isResolved, closeTime, createdTime, outcomeType, shouldAnswersSumToOne }) => {
      const isOpen = isResolved !== true && Number(closeTime ?? Number.POSITIVE_INFINITY) > now;
      const group = shouldAnswersSumToOne === false ? "INDEPENDENT" : "DEPENDENT";
      const isOfType = ["ALL", outcomeType, `${group}_${outcomeType}`].includes(type);
      return Number(createdTime) < before && isOfType && (query.get("filter") !== "open" || isOpen);
    })
    .toSorted((a, b) => Number(b[sortField] ?? 0) - Number(a[sortField] ?? 0))
    .slice(offset, offset + Number(query.get("limit") ?? 100));
}

/** Bets of a market in a range of times, newest first. */
function selectBets(bets: readonly JsonObject[], query: URLSearchParams): JsonObject[] {
  const [contractId, answerId] = [query.get("contractId"), query.get("answerId")];
  const before = Number(query.get("beforeTime") ?? Number.POSITIVE_INFINITY);
  const after = Number(query.get("afterTime") ?? Number.NEGATIVE_INFINITY);
  const isWanted = (bet: JsonObject) =>
    (contractId === null || bet.contractId === contractId) && (answerId === null || bet.answerId === answerId);
  return bets
    .filter((bet) => isWanted(bet) && Number(bet.createdTime) > after && Number(bet.createdTime) < before)
    .toSorted((a, b) => Number(b.createdTime) - Number(a.createdTime));
}

/** Open contracts with the answers that the bets name. */
function contractsOf(bets: readonly JsonObject[], now: number): JsonObject[] {
  const { openAt, closeAt } = openTimes(now);
  return [...new Set(bets.map(({ contractId }) => String(contractId)))].map((id) => {
    const own = bets.filter(({ contractId }) => contractId === id);
    const answerIds = [...new Set(own.flatMap(({ answerId }) => textOf(answerId) ?? []))];
    const shared = {
      id,
      question: `Question ${id}`,
      createdTime: Date.parse(openAt),
      closeTime: Date.parse(closeAt),
      isResolved: false,
      url: `https://manifold.markets/someone/${id}`,
    };
    if (answerIds.length === 0) return { ...shared, outcomeType: "BINARY", probability: 0.41 };
    const answers = answerIds.map((answerId) => ({ id: answerId, text: answerId, probability: 0.2 }));
    return { ...shared, outcomeType: "MULTIPLE_CHOICE", shouldAnswersSumToOne: true, answers };
  });
}
