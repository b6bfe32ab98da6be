import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { systemClock } from "../system/system-clock.ts";
import { createUndiciHttp } from "./undici-http.ts";

test("`close` aborts a pending request to an unresponsive host", async () => {
  const server = createServer(() => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const http = createUndiciHttp(systemClock);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rejection = assert.rejects(http.send({ method: "GET", url, deadlineMs: 60_000, maxBodyBytes: 1 }));
  await once(server, "request");
  await http.close();
  await rejection;
  server.close();
  await once(server, "close");
});
