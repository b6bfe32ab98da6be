import Type, { type Static } from "typebox";
import { Compile } from "typebox/schema";
import type { HttpOut } from "../../../ports/http-out.ts";
import type { Authorization, PaymentAsset } from "./model.ts";

const RPC_TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 256 * 1024;
/** Maximum number of blocks per event query. RPC providers limit the range. */
const BLOCKS_PER_QUERY = 2_000;
/** Maximum number of event queries. With 2 s per block, 22 queries of 2,000 blocks cover one day. */
const EVENT_QUERIES_MAX = 22;
/** Safety margin for the expiry of an unused authorization. It covers reorganisations of the last blocks. */
const EXPIRY_MARGIN_SECONDS = 60;

/** Function selectors and event topics of EIP-3009 and ERC-20: keccak-256 of the signatures. */
const AUTHORIZATION_STATE_SELECTOR = "0xe94a0102";
const AUTHORIZATION_USED_TOPIC = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
const AUTHORIZATION_CANCELED_TOPIC = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";
const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * The state of an authorization on the chain. transferred: its amount was transferred to the payee. open: not used yet.
 * void: it will never pay the payee, because it has expired or its nonce was used for another purpose. unknown: it
 * could not be determined.
 */
export type AuthorizationState =
  | { readonly kind: "transferred"; readonly transaction: string }
  | { readonly kind: "open" }
  | { readonly kind: "void" }
  | { readonly kind: "unknown" };

/** Reads the outcome of settlements from the chain if the facilitator did not report it. */
export interface ChainReader {
  find(authorization: Authorization, signal?: AbortSignal): Promise<AuthorizationState>;
}

const UNKNOWN_FINDING: AuthorizationState = { kind: "unknown" };
const Quantity = Type.String({ pattern: "^0x(?:0|[1-9a-f][0-9a-f]{0,15})$" });
const Hex32 = Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" });
const EventLog = Type.Object({
  address: Type.String(),
  topics: Type.Array(Hex32, { maxItems: 4 }),
  data: Type.String(),
  logIndex: Quantity,
  transactionHash: Hex32,
});
const chainIdCheck = Compile(Quantity);
const blockCheck = Compile(Type.Object({ number: Quantity, timestamp: Quantity }));
const hex32Check = Compile(Hex32);
const logsCheck = Compile(Type.Array(EventLog, { maxItems: 100 }));
const receiptCheck = Compile(Type.Object({ status: Quantity, logs: Type.Array(EventLog, { maxItems: 1_000 }) }));

type EventLog = Static<typeof EventLog>;

/** Calls an Ethereum JSON-RPC endpoint. Returns the unvalidated result. Throws if there is no response. */
export async function callChainRpc(
  endpoint: { readonly http: HttpOut; readonly url: string; readonly deadlineMs: number },
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  const { http, url, deadlineMs } = endpoint;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const bounds = { deadlineMs, maxBodyBytes: RESPONSE_BYTES_MAX, signal };
  const response = await http.send({ method: "POST", url, headers, body, ...bounds });
  const value = JSON.parse(response.body) as { readonly result?: unknown } | null;
  return value?.result;
}

/** Reads through an Ethereum JSON-RPC endpoint. Never throws: failures are reported as unknown. */
export function createChainReader(options: {
  readonly http: HttpOut;
  readonly url: string;
  readonly asset: PaymentAsset;
}): ChainReader {
  const { http, url, asset } = options;
  const token = asset.asset.toLowerCase();

  const call = (method: string, params: readonly unknown[], signal?: AbortSignal) =>
    callChainRpc({ http, url, deadlineMs: RPC_TIMEOUT_MS }, method, params, signal);

  const findEvent = async (authorization: Authorization, lastBlock: number, signal?: AbortSignal) => {
    const topics = [
      [AUTHORIZATION_USED_TOPIC, AUTHORIZATION_CANCELED_TOPIC],
      padAddress(authorization.from),
      authorization.nonce,
    ];
    for (let query = 0, to = lastBlock; query < EVENT_QUERIES_MAX && to >= 0; query += 1, to -= BLOCKS_PER_QUERY) {
      const range = { fromBlock: toQuantity(Math.max(0, to - BLOCKS_PER_QUERY + 1)), toBlock: toQuantity(to) };
      const logs = await call("eth_getLogs", [{ address: token, topics, ...range }], signal);
      if (!logsCheck.Check(logs)) return null;
      const [log] = logs;
      if (log !== undefined) return log;
    }
    return null;
  };

  const find: ChainReader["find"] = async (authorization, signal) => {
    const chainId = await call("eth_chainId", [], signal);
    if (!chainIdCheck.Check(chainId) || Number(chainId) !== asset.chainId) return UNKNOWN_FINDING;
    // The block is read before the nonce, so a nonce that is still unused was unused at the block's timestamp.
    const block = await call("eth_getBlockByNumber", ["latest", false], signal);
    if (!blockCheck.Check(block)) return UNKNOWN_FINDING;
    const data = `${AUTHORIZATION_STATE_SELECTOR}${padAddress(authorization.from).slice(2)}${authorization.nonce.slice(2)}`;
    const nonceState = await call("eth_call", [{ to: token, data }, "latest"], signal);
    if (!hex32Check.Check(nonceState)) return UNKNOWN_FINDING;
    if (BigInt(nonceState) === 0n) {
      const isExpired = BigInt(block.timestamp) > BigInt(authorization.validBefore) + BigInt(EXPIRY_MARGIN_SECONDS);
      return { kind: isExpired ? "void" : "open" };
    }
    const event = await findEvent(authorization, Number(block.number), signal);
    if (event === null) return UNKNOWN_FINDING;
    if (event.topics[0] === AUTHORIZATION_CANCELED_TOPIC) return { kind: "void" };
    const receipt = await call("eth_getTransactionReceipt", [event.transactionHash], signal);
    if (!receiptCheck.Check(receipt) || Number(receipt.status) !== 1) return UNKNOWN_FINDING;
    return hasPaid(receipt.logs, event, authorization, token)
      ? { kind: "transferred", transaction: event.transactionHash.toLowerCase() }
      : { kind: "void" };
  };
  return { find: (authorization, signal) => find(authorization, signal).catch(() => UNKNOWN_FINDING) };
}

/**
 * Whether using the authorization transferred its amount to the payee. A used nonce is no proof, and a transaction may
 * contain many transfers: only the token's next event after the AuthorizationUsed event belongs to the authorization.
 */
function hasPaid(logs: readonly EventLog[], useEvent: EventLog, authorization: Authorization, token: string): boolean {
  const [nextEvent] = logs
    .filter((log) => log.address.toLowerCase() === token && Number(log.logIndex) > Number(useEvent.logIndex))
    .sort((a, b) => Number(a.logIndex) - Number(b.logIndex));
  return (
    nextEvent !== undefined &&
    nextEvent.topics[0] === TRANSFER_TOPIC &&
    nextEvent.topics[1]?.toLowerCase() === padAddress(authorization.from) &&
    nextEvent.topics[2]?.toLowerCase() === padAddress(authorization.to) &&
    /^0x[0-9a-fA-F]{64}$/.test(nextEvent.data) &&
    BigInt(nextEvent.data) === BigInt(authorization.value)
  );
}

/** Pads a wallet address to 32 bytes. */
const padAddress = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;

const toQuantity = (value: number) => `0x${value.toString(16)}`;
