import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { x402Facilitator } from "@x402/core/facilitator";
import type { VerifyRequest } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { registerExactEvmScheme } from "@x402/evm/exact/facilitator";
import type { LocalChain } from "./local-chain.ts";

/** An injected fault: a fixed response, no response, or a connection closed after the request was processed. */
export type FacilitatorFault =
  | { readonly kind: "response"; readonly status: number; readonly body: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "lose_response" };

/** Starts an HTTP server with the public facilitator library and fault injection. */
export async function startFacilitator(chain: LocalChain) {
  const signer = toFacilitatorEvmSigner({ ...chain.gasWallet, address: chain.gasWallet.account.address } as never);
  const facilitator = registerExactEvmScheme(new x402Facilitator(), { signer, networks: chain.network });
  const faults: { verify: FacilitatorFault | null; settle: FacilitatorFault | null } = { verify: null, settle: null };
  const calls = { verify: 0, settle: 0 };
  /** Settlements run one at a time, because they share the nonce sequence of one wallet. */
  let lastSettlement: Promise<unknown> = Promise.resolve();
  const runExclusive = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = lastSettlement.then(work, work);
    lastSettlement = next;
    return next;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const name = request.url === "/verify" ? "verify" : request.url === "/settle" ? "settle" : null;
    if (name === null || request.method !== "POST") return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { paymentPayload, paymentRequirements }: VerifyRequest = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    calls[name] += 1;
    const fault = faults[name];
    if (fault?.kind === "timeout") return;
    if (fault?.kind === "response") return void response.writeHead(fault.status).end(fault.body);
    const result =
      name === "verify"
        ? await facilitator.verify(paymentPayload, paymentRequirements)
        : await runExclusive(() => facilitator.settle(paymentPayload, paymentRequirements));
    if (fault?.kind === "lose_response") return void response.destroy();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    faults,
    reset() {
      faults.verify = null;
      faults.settle = null;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export type TestFacilitator = Awaited<ReturnType<typeof startFacilitator>>;
