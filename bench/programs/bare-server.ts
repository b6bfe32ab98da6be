/**
 * Run as a child process: the least a Node server can do for an answer. It gives everyone the same status, headers and
 * body, read from the JSON file of argv, and prints its address.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const [file = ""] = process.argv.slice(2);
const answer: { readonly headers: Record<string, string>; readonly body: string } = JSON.parse(
  readFileSync(file, "utf8"),
);
const body = Buffer.from(answer.body);
const headers = { ...answer.headers, "content-length": String(body.length) };
const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
// As long as the service's: a connection that is closed between two rounds would be counted as a failed request.
server.keepAliveTimeout = 72_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
