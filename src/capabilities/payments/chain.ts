import Type from "typebox";
import { Compile } from "typebox/compile";
import type { HttpOut } from "../../ports/http-out.ts";
import type { Authorization, PaymentAsset } from "./model.ts";

const DEADLINE_MS = 5_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** Providers bound how many blocks one search for events may span; these many windows reach back a day where a block takes 2 s. */
const WINDOW_BLOCKS = 2_000;
const WINDOWS_MAX = 22;
/** So long after an authorization's end a used nonce would be seen, whatever happened to the last blocks. */
const EXPIRY_MARGIN_SECONDS = 60;

/** keccak-256 of the signatures of EIP-3009 and ERC-20. */
const AUTHORIZATION_STATE = "0xe94a0102";
const AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
const AUTHORIZATION_CANCELED = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * What the chain itself says of an authorization. transferred: it has paid us. open: not yet used. void: it never will pay
 * us, because it ran out unused or its nonce went elsewhere. unknown: no answer, or none that is certain.
 */
export type ChainFinding =
  | { readonly kind: "transferred"; readonly transaction: string }
  | { readonly kind: "open" }
  | { readonly kind: "void" }
  | { readonly kind: "unknown" };

/** Reads the chain, for settlements of which the facilitator leaves us in doubt. */
export interface ChainReader {
  find(authorization: Authorization, signal?: AbortSignal): Promise<ChainFinding>;
}

const UNKNOWN: ChainFinding = { kind: "unknown" };
const Quantity = Type.String({ pattern: "^0x(?:0|[1-9a-f][0-9a-f]{0,15})$" });
const Word = Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" });
const Log = Type.Object({
  address: Type.String(),
  topics: Type.Array(Word, { maxItems: 4 }),
  data: Type.String(),
  logIndex: Quantity,
  transactionHash: Word,
});
const chainIdCheck = Compile(Quantity);
const blockCheck = Compile(Type.Object({ number: Quantity, timestamp: Quantity }));
const wordCheck = Compile(Word);
const logsCheck = Compile(Type.Array(Log, { maxItems: 100 }));
const receiptCheck = Compile(Type.Object({ status: Quantity, logs: Type.Array(Log, { maxItems: 1_000 }) }));

interface EventLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: string;
  readonly transactionHash: string;
}

/** One call of an Ethereum JSON-RPC address; gives its result, unchecked. Throws where there is no answer. */
export async function queryChain(
  at: { readonly http: HttpOut; readonly url: string; readonly deadlineMs: number },
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  const { http, url, deadlineMs } = at;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const bounds = { deadlineMs, maxBodyBytes: ANSWER_BYTES_MAX, ...(signal === undefined ? {} : { signal }) };
  const answer = await http.send({ method: "POST", url, headers, body, ...bounds });
  const value = JSON.parse(answer.body) as { readonly result?: unknown } | null;
  return value?.result;
}

/** Reads over an Ethereum JSON-RPC address. It never throws: what it cannot learn is unknown. */
export function createChainReader(options: {
  readonly http: HttpOut;
  readonly url: string;
  readonly asset: PaymentAsset;
  readonly deadlineMs?: number;
}): ChainReader {
  const { http, url, asset, deadlineMs = DEADLINE_MS } = options;
  const token = asset.asset.toLowerCase();

  const call = (method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> =>
    queryChain({ http, url, deadlineMs }, method, params, signal);

  const findEvent = async (
    authorization: Authorization,
    last: number,
    signal: AbortSignal | undefined,
  ): Promise<EventLog | null> => {
    const topics = [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], word(authorization.from), authorization.nonce];
    for (let window = 0, to = last; window < WINDOWS_MAX && to >= 0; window += 1, to -= WINDOW_BLOCKS) {
      const range = { fromBlock: quantity(Math.max(0, to - WINDOW_BLOCKS + 1)), toBlock: quantity(to) };
      const logs = await call("eth_getLogs", [{ address: token, topics, ...range }], signal);
      if (!logsCheck.Check(logs)) return null;
      const [log] = logs;
      if (log !== undefined) return log;
    }
    return null;
  };

  const find = async (authorization: Authorization, signal?: AbortSignal): Promise<ChainFinding> => {
    const chainId = await call("eth_chainId", [], signal);
    if (!chainIdCheck.Check(chainId) || Number(chainId) !== asset.chainId) return UNKNOWN;
    // The block before the state: what is unused in a later state than one past its end stays unused.
    const block = await call("eth_getBlockByNumber", ["latest", false], signal);
    if (!blockCheck.Check(block)) return UNKNOWN;
    const data = `${AUTHORIZATION_STATE}${word(authorization.from).slice(2)}${authorization.nonce.slice(2)}`;
    const used = await call("eth_call", [{ to: token, data }, "latest"], signal);
    if (!wordCheck.Check(used)) return UNKNOWN;
    if (BigInt(used) === 0n) {
      const isOver = BigInt(block.timestamp) > BigInt(authorization.validBefore) + BigInt(EXPIRY_MARGIN_SECONDS);
      return { kind: isOver ? "void" : "open" };
    }
    const event = await findEvent(authorization, Number(block.number), signal);
    if (event === null) return UNKNOWN;
    if (event.topics[0] === AUTHORIZATION_CANCELED) return { kind: "void" };
    const receipt = await call("eth_getTransactionReceipt", [event.transactionHash], signal);
    if (!receiptCheck.Check(receipt) || Number(receipt.status) !== 1) return UNKNOWN;
    return pays(receipt.logs, event, authorization, token)
      ? { kind: "transferred", transaction: event.transactionHash.toLowerCase() }
      : { kind: "void" };
  };
  return { find: (authorization, signal) => find(authorization, signal).catch(() => UNKNOWN) };
}

/**
 * Whether the authorization's use moved its amount to us. A nonce says nothing of where the money went, and one transaction
 * may hold many transfers: only the token's next word after the use belongs to it.
 */
function pays(logs: readonly EventLog[], use: EventLog, authorization: Authorization, token: string): boolean {
  const after = logs
    .filter((log) => log.address.toLowerCase() === token && Number(log.logIndex) > Number(use.logIndex))
    .sort((a, b) => Number(a.logIndex) - Number(b.logIndex));
  const next = after[0];
  return (
    next !== undefined &&
    next.topics[0] === TRANSFER &&
    next.topics[1]?.toLowerCase() === word(authorization.from) &&
    next.topics[2]?.toLowerCase() === word(authorization.to) &&
    /^0x[0-9a-fA-F]{64}$/.test(next.data) &&
    BigInt(next.data) === BigInt(authorization.value)
  );
}

/** An address as a 32-byte word. */
const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;

const quantity = (value: number) => `0x${value.toString(16)}`;
