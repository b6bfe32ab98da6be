import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM_FILE = fileURLToPath(new URL("../programs/hostile-clients.ts", import.meta.url));

/** What each hostile client does: see `programs/hostile-clients.ts`. */
export type HostileKind = "pipelining" | "idle" | "slow_headers" | "slow_body";

export interface HostileCounts {
  opened: number;
  closedByServer: number;
  /** Connections that could not be opened. */
  failed: number;
  openAtEnd: number;
}

export interface HostileClients {
  start(): void;
  /** Closes all connections. */
  stop(): Promise<HostileCounts>;
}

/** Prepares hostile clients in a child process, so that they do not delay the measuring client. */
export async function prepareHostileClients(attack: {
  readonly url: string;
  readonly kind: HostileKind;
  readonly connections: number;
  /** Loopback addresses from 127.0.1.1 from which the connections come. */
  readonly addresses: number;
}): Promise<HostileClients> {
  const args = [new URL(attack.url).port, attack.kind, String(attack.connections), String(attack.addresses)];
  const child = spawn(process.execPath, [PROGRAM_FILE, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  await once(lines, "line");
  return {
    start: () => child.stdin.write("start\n"),
    async stop() {
      const report = once(lines, "line");
      const exited = once(child, "exit");
      child.stdin.end();
      const [line] = await report;
      await exited;
      return JSON.parse(line) as HostileCounts;
    },
  };
}
