import { fork } from "node:child_process";
import { once } from "node:events";

export const ATTACK_NAMES = ["floods", "slow", "unknown", "all"] as const;
/** `bench/attacks.ts` describes the attacks. */
export type AttackName = (typeof ATTACK_NAMES)[number];

/** Number of keys that the attackers need: one for endless responses, eight for slow receivers, one for unknown ids. */
export const ATTACKERS = 10;

export interface AttackCounts {
  /** Deliveries that reached a receiver of an attacker. */
  responses: number;
  /** Responses to requests for unknown ids, by status. */
  statuses: Record<string, number>;
}

export interface Attackers {
  start(attack: AttackName): Promise<void>;
  /** Removes the attackers' webhooks and stops their requests. */
  stop(): Promise<AttackCounts>;
  close(): Promise<void>;
}

/** Starts the attackers in a child process, so that they do not delay the measuring client. */
export async function openAttackers(url: string, keys: readonly string[]): Promise<Attackers> {
  const child = fork(new URL("../programs/attackers.ts", import.meta.url), [url, keys.join(",")]);
  const exited = once(child, "exit");
  const nextMessage = async (): Promise<unknown> => {
    const message = once(child, "message");
    const failed = exited.then(([code]) => {
      throw new Error(`the attackers exited with ${code}`);
    });
    const [value] = await Promise.race([message, failed]);
    return value;
  };
  await nextMessage();
  const send = async (command: string) => {
    const answer = nextMessage();
    child.send(command);
    return (await answer) as AttackCounts;
  };
  return {
    async start(attack) {
      await send(`start ${attack}`);
    },
    stop: () => send("stop"),
    async close() {
      child.disconnect();
      await exited;
    },
  };
}
