import type { MessagePort } from "node:worker_threads";
import type { Bus } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import { type BusMessage, TopicSubscribers, toMessage } from "./topics.ts";

type ToBus = ({ readonly kind: "publish" } & BusMessage) | { readonly kind: "subscribe"; readonly topic: string };

/** Serves the bus of this thread to another thread (`openPortBus`). */
export function serveBus(port: MessagePort, bus: Bus): void {
  const unsubscribes: (() => void)[] = [];
  port.on("message", (message: ToBus) => {
    const { topic } = message;
    if (message.kind === "publish") bus.publish(topic, message.hint ?? undefined);
    else unsubscribes.push(bus.subscribe(topic, (hint) => port.postMessage({ topic, hint } satisfies BusMessage)));
  });
  port.on("close", () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  });
}

/** Opens the bus in a worker thread. The other end of `port` must run `serveBus`. */
export function openPortBus(port: MessagePort, log: Log): Bus {
  const subscribers = new TopicSubscribers(log);
  const topics = new Set<string>();
  const send = (message: ToBus) => port.postMessage(message);
  port.on("message", (message: BusMessage) => subscribers.notify(message));
  return {
    publish(topic, hint) {
      const message = toMessage(topic, hint, log);
      if (message !== null) send({ kind: "publish", ...message });
    },
    subscribe(topic, wake) {
      // The other thread keeps its subscription until this thread ends.
      if (!topics.has(topic)) send({ kind: "subscribe", topic });
      topics.add(topic);
      return subscribers.subscribe(topic, wake);
    },
    isConnected: true,
    async flush() {},
    async close() {
      port.close();
    },
  };
}
