import { fork } from "node:child_process";
import { once } from "node:events";
import { receiveMessage, requestMessage } from "./child-process.ts";

/** Size of each attack, 0 for none. `bench/attacks.ts` describes the attacks. */
export interface Attack {
  /** Webhook receivers whose responses never end. */
  readonly floods: number;
  /** Webhook receivers that answer 200 after 9.5 s. */
  readonly slow: number;
  /** Clients that request unknown market ids, one request after the other. */
  readonly unknown: number;
}

/** Limit of webhooks of a customer. */
const RECEIVERS_PER_CUSTOMER = 10;

/**
 * Returns the customers of the attackers, as indexes of their keys: those of the floods, those of the slow receivers, and the
 * last one for unknown ids.
 */
export function attackersOf(attack: Attack): {
  readonly floods: number[];
  readonly slow: number[];
  readonly count: number;
} {
  const floods = Array.from({ length: attack.floods }, (_, index) => Math.floor(index / RECEIVERS_PER_CUSTOMER));
  const firstSlow = (floods.at(-1) ?? -1) + 1;
  const slow = Array.from(
    { length: attack.slow },
    (_, index) => firstSlow + Math.floor(index / RECEIVERS_PER_CUSTOMER),
  );
  return { floods, slow, count: (slow.at(-1) ?? firstSlow - 1) + 2 };
}

export interface AttackCounts {
  /** Deliveries that reached a receiver of an attacker. */
  responses: number;
  /** Responses to requests for unknown ids, by status. */
  statuses: Record<string, number>;
}

export interface Attackers {
  start(attack: Attack): Promise<void>;
  /** Removes the attackers' webhooks and stops their requests. */
  stop(): Promise<AttackCounts>;
  close(): Promise<void>;
}

/** Starts the attackers in a child process, so that they do not delay the measuring client. */
export async function openAttackers(url: string, keys: readonly string[]): Promise<Attackers> {
  const child = fork(new URL("../programs/attackers.ts", import.meta.url), [url, keys.join(",")]);
  const exited = once(child, "exit");
  await receiveMessage(child);
  const send = (command: string) => requestMessage<AttackCounts>(child, command);
  return {
    async start(attack) {
      await send(`start ${JSON.stringify(attack)}`);
    },
    stop: () => send("stop"),
    async close() {
      child.disconnect();
      await exited;
    },
  };
}
