import type { Bus } from "../../ports/bus.ts";
import type { Log } from "../../ports/log.ts";
import { TopicSubscribers, toMessage } from "./topics.ts";

export function createInProcessBus(log: Log): Bus {
  const subscribers = new TopicSubscribers(log);
  let isClosed = false;
  return {
    publish(topic, hint) {
      const message = isClosed ? null : toMessage(topic, hint, log);
      if (message !== null) subscribers.notify(message);
    },
    subscribe: (topic, wake) => subscribers.subscribe(topic, wake),
    isConnected: true,
    async flush() {},
    async close() {
      isClosed = true;
    },
  };
}
