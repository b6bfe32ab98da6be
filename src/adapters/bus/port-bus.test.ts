import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { quietLog } from "../../../test/support/quiet-log.ts";
import type { Bus } from "../../ports/bus.ts";
import { createInProcessBus } from "./in-process-bus.ts";
import { openPortBus, serveBus } from "./port-bus.ts";

function openTwoThreads(t: TestContext) {
  const bus = createInProcessBus(quietLog);
  const { port1, port2 } = new MessageChannel();
  serveBus(port1, bus);
  const other = openPortBus(port2, quietLog);
  t.after(() => other.close());
  return { bus, other };
}

/** Resolves with the next hint. */
const nextHint = (bus: Bus, topic: string) =>
  new Promise<string | null>((resolve) => {
    const unsubscribe = bus.subscribe(topic, (hint) => {
      unsubscribe();
      resolve(hint);
    });
  });

test("a publication in either thread wakes the subscribers of both", async (t) => {
  const { bus, other } = openTwoThreads(t);
  const ready = nextHint(other, "ready");
  other.publish("ready");
  assert.equal(await ready, null);
  for (const publisher of [bus, other]) {
    const hints = [nextHint(bus, "topic"), nextHint(other, "topic")];
    // The subscription has reached the other thread before this publication, because messages keep their order.
    const isSubscribed = nextHint(other, "ready");
    other.publish("ready");
    await isSubscribed;
    publisher.publish("topic", "7");
    assert.deepEqual(await Promise.all(hints), ["7", "7"]);
  }
});

test("a thread that has ended is not woken, and the other keeps its subscribers", async (t) => {
  const { bus, other } = openTwoThreads(t);
  const first = nextHint(other, "topic");
  other.publish("topic", "1");
  assert.equal(await first, "1");
  let wakes = 0;
  other.subscribe("topic", () => {
    wakes += 1;
  });
  await other.close();
  const hint = nextHint(bus, "topic");
  bus.publish("topic", "2");
  assert.deepEqual([await hint, wakes], ["2", 0]);
});

test("a topic or a hint that exceeds the bounds of a bus is not sent to the other thread", async (t) => {
  const { bus, other } = openTwoThreads(t);
  const hint = nextHint(bus, "topic");
  other.publish("topic", "x".repeat(257));
  other.publish("Topic");
  other.publish("topic", "last");
  assert.equal(await hint, "last");
});

test("a publication in either thread wakes each subscriber of both once", async (t) => {
  const { bus, other } = openTwoThreads(t);
  const wakes = { here: 0, there: 0, thereAgain: 0 };
  const count = (name: keyof typeof wakes) => () => {
    wakes[name] += 1;
  };
  bus.subscribe("topic", count("here"));
  other.subscribe("topic", count("there"));
  other.subscribe("topic", count("thereAgain"));
  /** Waits until all earlier messages have passed in both directions, and their subscribers have been woken. */
  const settle = async () => {
    for (let round = 0; round < 2; round++) {
      const hint = nextHint(other, "settled");
      other.publish("settled");
      await hint;
    }
  };
  await settle();
  for (const [index, publisher] of [bus, other].entries()) {
    publisher.publish("topic");
    await settle();
    const each = index + 1;
    assert.deepEqual(wakes, { here: each, there: each, thereAgain: each });
  }
});

test("the bus has one subscription for each topic of the other thread, until that ends", async (t) => {
  const bus = createInProcessBus(quietLog);
  const subscribed: string[] = [];
  const counting: Bus = {
    ...bus,
    subscribe(topic, wake) {
      const unsubscribe = bus.subscribe(topic, wake);
      subscribed.push(topic);
      return () => {
        subscribed.splice(subscribed.indexOf(topic), 1);
        unsubscribe();
      };
    },
  };
  const { port1, port2 } = new MessageChannel();
  serveBus(port1, counting);
  const other = openPortBus(port2, quietLog);
  t.after(() => other.close());
  for (const topic of ["first", "second", "first"]) other.subscribe(topic, () => {})();
  const ready = nextHint(other, "ready");
  other.publish("ready");
  await ready;
  assert.deepEqual(subscribed, ["first", "second", "ready"]);
  const closed = new Promise((resolve) => port1.once("close", resolve));
  await other.close();
  await closed;
  assert.deepEqual(subscribed, []);
});
