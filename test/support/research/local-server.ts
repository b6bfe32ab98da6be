import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An HTTP server on loopback that keeps its requests. */
export async function startLocalServer(
  handle: (request: ReceivedRequest, response: ServerResponse) => void,
): Promise<{ readonly origin: string; readonly requests: readonly ReceivedRequest[]; close(): Promise<void> }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = {
      method: incoming.method ?? "",
      url: incoming.url ?? "",
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(request);
    handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Tokens that a completion reports by default. */
export const COMPLETION_TOKENS = { prompt: 120, completion: 30 };

/** A response of the protocol of OpenAI's chat completions. */
export function completion(text: string, finishReason = "stop", tokens = COMPLETION_TOKENS): string {
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "local",
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: finishReason }],
    usage: {
      prompt_tokens: tokens.prompt,
      completion_tokens: tokens.completion,
      total_tokens: tokens.prompt + tokens.completion,
    },
  });
}

/** Answers with JSON, or with another type. */
export function respond(response: ServerResponse, body: string, type = "application/json", status = 200): void {
  response.writeHead(status, { "content-type": type }).end(body);
}
