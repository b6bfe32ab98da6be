import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { PUBLIC_ROUTE, testServer } from "../../test/support/test-app.ts";
import type { Clock } from "../ports/clock.ts";
import { drain } from "./lifecycle.ts";
import { defineRoute } from "./route.ts";

/** Creates a clock whose timers fire when the test calls `fire`. */
function createManualClock(): { clock: Clock; fire(): void } {
  const callbacks = new Set<() => void>();
  return {
    clock: {
      now: () => 0,
      monotonic: () => 0,
      setTimeout: (callback) => {
        callbacks.add(callback);
        return () => callbacks.delete(callback);
      },
      sleep: async () => {},
      yieldToEventLoop: async () => {},
    },
    fire: () => {
      for (const callback of callbacks) callback();
    },
  };
}

async function startSlowServer() {
  const { app } = await testServer();
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/slow",
    operationId: "slow",
    handler: async () => {
      entered.resolve();
      await release.promise;
      return { done: true };
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  return { app, entered, release, port: (app.server.address() as AddressInfo).port };
}

test("draining lets open requests finish, closes idle connections and accepts no new ones", async () => {
  const { app, entered, release, port } = await startSlowServer();
  app.lifecycle.markReady();
  assert.equal(app.lifecycle.state, "ready");
  const idle = connect(port, "127.0.0.1");
  await once(idle, "connect");
  const idleClosed = once(idle, "close");
  idle.resume();
  const agent = new Agent({ keepAlive: true });
  const response = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
    get({ port, host: "127.0.0.1", path: "/slow", agent }, (incoming) => {
      incoming.resume();
      incoming.on("end", () => resolve({ status: incoming.statusCode, connection: incoming.headers.connection }));
    }).on("error", reject);
  });
  await entered.promise;
  let hasEnded = false;
  const ended = drain(app, { clock: createManualClock().clock, deadlineMs: 1_000 }).then(() => {
    hasEnded = true;
  });
  assert.equal(app.lifecycle.state, "draining");
  await idleClosed;
  assert.equal(hasEnded, false);
  const lateConnection = connect(port, "127.0.0.1");
  const [error] = await once(lateConnection, "error");
  assert.equal(error.code, "ECONNREFUSED");
  release.resolve();
  assert.deepEqual(await response, { status: 200, connection: "close" });
  await ended;
  agent.destroy();
});

test("draining closes open connections at the deadline", async () => {
  const { app, entered, release, port } = await startSlowServer();
  const timers = createManualClock();
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.resume();
  socket.on("error", () => {});
  socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
  await entered.promise;
  const closed = once(socket, "close");
  const ended = drain(app, { clock: timers.clock, deadlineMs: 1_000 });
  // Fires the deadline only after the server has stopped accepting connections.
  while (app.server.listening) await new Promise((resolve) => setImmediate(resolve));
  timers.fire();
  await closed;
  await ended;
  release.resolve();
});

test("a draining server never becomes ready again", async () => {
  const { app } = await testServer();
  assert.equal(app.lifecycle.state, "starting");
  await drain(app, { clock: createManualClock().clock, deadlineMs: 1_000, graceMs: 5 });
  app.lifecycle.markReady();
  assert.equal(app.lifecycle.state, "draining");
});
