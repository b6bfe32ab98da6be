import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as nextIteration } from "node:timers/promises";
import Type from "typebox";
import type { Hex } from "viem";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { buildApp } from "../../../src/app/index.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { METERING } from "../../../src/domain/metering.ts";
import { sendJsonPieces } from "../../../src/http/response/pieces.ts";
import { defineRoute } from "../../../src/http/route.ts";
import type { Database } from "../../../src/ports/database.ts";
import type { Log } from "../../../src/ports/log.ts";
import { plainAppPorts } from "../app-ports.ts";
import { quietLog } from "../quiet-log.ts";
import { ScriptedVenue } from "../venues/scripted-venue.ts";
import type { TestFacilitator } from "./facilitator.ts";
import type { LocalChain } from "./local-chain.ts";

/** Content of paid responses. Tests assert that no other output contains this text. */
export const SECRET = "the-content-that-is-paid-for";

export interface PaidService {
  readonly url: string;
  /** Controls and counts the handler runs of the test routes. */
  readonly work: { count: number; fail: Error | null; hold: Promise<void> | null; size: number };
  close(): Promise<void>;
}

/**
 * Starts a complete service that accepts payments. Additional routes: /v1/test/after and /v1/test/before settle after
 * and before the handler; /v1/test/stream-after (misconfigured) and /v1/test/stream-before send streams;
 * /v1/test/hijack bypasses `reply.send`; /v1/test/pieces sends a list of about `work.size` bytes in pieces; /v1/test/deep costs $5; /v1/test/account needs an account.
 */
export async function startPaidService(options: {
  readonly database: Database;
  readonly chain: LocalChain;
  readonly facilitator: Pick<TestFacilitator, "url">;
  readonly payTo: Hex;
  readonly hasRpc?: boolean;
  readonly log?: Log;
  readonly deadlines?: { readonly verifyMs: number; readonly settleMs: number };
}): Promise<PaidService> {
  const { database, chain, facilitator, payTo, hasRpc = true, log = quietLog, deadlines } = options;
  const { network, chainId, token, tokenName: name, tokenVersion: version, rpcUrl } = chain;
  const http = createUndiciHttp(systemClock);
  const venues = [
    { id: "alpha", referenceOnly: false, playMoney: false, create: () => new ScriptedVenue("alpha", systemClock) },
  ];
  const app = await buildApp({
    // A test sends 1,000 requests from one address.
    connections: { perAddress: 1_000 },
    ...plainAppPorts({ database, log, venues, publicUrl: "https://api.example.org" }),
    payments: {
      asset: { network, chainId, asset: token, name, version, payTo },
      facilitatorUrl: facilitator.url,
      facilitatorToken: null,
      rpcUrl: hasRpc ? rpcUrl : null,
      http,
      deadlines,
    },
  });
  const work: PaidService["work"] = { count: 0, fail: null, hold: null, size: 0 };
  const handler = async () => {
    work.count += 1;
    await work.hold;
    await nextIteration();
    if (work.fail !== null) throw work.fail;
    return { content: SECRET.padEnd(work.size, "x"), run: work.count };
  };
  const route = (path: string, metering: (typeof METERING)[keyof typeof METERING] & { needsAccount?: boolean }) =>
    defineRoute(app.http, {
      method: "GET",
      url: `/v1/test/${path}`,
      access: "key",
      metering,
      tag: "Analytics",
      summary: `Test ${path}`,
      operationId: `test_${path}`,
      query: Type.Object({ n: Type.Optional(Type.Integer({ maximum: 10 })) }),
      responses: { 200: Type.Object({ content: Type.String(), run: Type.Integer() }) },
      handler,
    });
  route("after", METERING.LISTING);
  route("before", { ...METERING.LISTING, settles: "before" } as never);
  route("deep", METERING.DEEP);
  route("account", { ...METERING.DEEP, priceTier: null, needsAccount: true });
  for (const settles of ["after", "before"] as const) {
    defineRoute(app.http, {
      method: "GET",
      url: `/v1/test/stream-${settles}`,
      access: "key",
      tag: "Streaming",
      metering: { ...METERING.LISTING, settles },
      summary: "Test stream",
      operationId: `test_stream_${settles}`,
      responses: {},
      handler: ({ reply }) => {
        work.count += 1;
        return reply.header("content-type", "text/event-stream").send(Readable.from([SECRET, SECRET]));
      },
    });
  }
  defineRoute(app.http, {
    method: "GET",
    url: "/v1/test/hijack",
    access: "key",
    tag: "Streaming",
    responses: {},
    metering: METERING.LISTING,
    summary: "Test hijack",
    operationId: "test_hijack",
    handler: ({ reply }) => {
      reply.hijack();
      reply.raw.end(SECRET);
      return reply;
    },
  });
  defineRoute(app.http, {
    method: "GET",
    url: "/v1/test/pieces",
    access: "key",
    tag: "Analytics",
    responses: {},
    metering: METERING.LISTING,
    summary: "Test pieces",
    operationId: "test_pieces",
    async handler({ reply }) {
      await handler();
      return sendJsonPieces(reply, encodeInPieces(SECRET, work.size));
    },
  });
  await app.http.listen({ host: "127.0.0.1", port: 0 });
  app.http.lifecycle.markReady();
  return {
    url: `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`,
    work,
    async close() {
      await app.http.close();
      await app.stop();
      await http.close();
    },
  };
}

/** The JSON array of a response: the paid content, and text that makes it as long as the test needs. */
async function* encodeInPieces(content: string, size: number): AsyncGenerator<string> {
  yield `[${JSON.stringify(content)}`;
  for (let sent = 0; sent < size; sent += 32_768) yield `,"${"x".repeat(32_768)}"`;
  yield "]";
}

/** Creates an error of the service, which the payer did not cause. */
export const failure = () => new AppError("venue_unavailable", "The venue cannot be reached at the moment");
