import { Agent, request } from "node:http";

export interface TimedResponse {
  readonly status: number;
  /** Milliseconds from sending the request until its last byte was received. */
  readonly ms: number;
  readonly bytes: number;
  /** URL in the Link header. */
  readonly link: string | null;
  /** Body of a response other than 200. */
  readonly errorText: string;
}

/** Creates a client that sends one request at a time over one connection: a GET, or a POST if it has a body. */
export function createTimedClient(url: string, key: string): (path: string, body?: object) => Promise<TimedResponse> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = `Bearer ${key}`;
  return (path, body) =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const options =
        body === undefined
          ? { agent, headers: { authorization } }
          : { agent, headers: { authorization, "content-type": "application/json" }, method: "POST" };
      const clientRequest = request(`${url}${path}`, options, (response) => {
        const status = response.statusCode ?? 0;
        let bytes = 0;
        let errorText = "";
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (status !== 200) errorText += chunk.toString();
        });
        response.on("end", () => {
          const link = /<([^>]+)>/.exec(String(response.headers.link ?? ""))?.[1] ?? null;
          resolve({ status, ms: performance.now() - startedAt, bytes, link, errorText });
        });
      });
      clientRequest.on("error", reject);
      clientRequest.end(body === undefined ? undefined : JSON.stringify(body));
    });
}
