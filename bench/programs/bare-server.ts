/**
 * Child process: a minimal Node server. It returns 200 with the headers and body of the JSON file in argv, and prints
 * its URL.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const [file = ""] = process.argv.slice(2);
const recordedResponse: { readonly headers: Record<string, string>; readonly body: string } = JSON.parse(
  readFileSync(file, "utf8"),
);
const body = Buffer.from(recordedResponse.body);
const headers = { ...recordedResponse.headers, "content-length": String(body.length) };
// The same timeouts as the service, so that both servers close slow connections equally often.
const timeouts = { requestTimeout: 10_000, headersTimeout: 8_000, connectionsCheckingInterval: 25 };
const server = createServer(timeouts, (request, response) => {
  const respond = () => {
    response.writeHead(200, headers);
    response.end(body);
  };
  if (request.method === "GET") respond();
  else request.resume().once("end", respond);
});
// Same keep-alive time as the service: a connection closed between two rounds would count as a failed request.
server.keepAliveTimeout = 10_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
