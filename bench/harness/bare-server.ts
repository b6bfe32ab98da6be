import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstLineOf } from "../../test/support/service-process.ts";
import type { LoadTarget } from "./load.ts";

const PROGRAM = fileURLToPath(new URL("../programs/bare-server.ts", import.meta.url));
/** Node sends these by itself, for both. */
const AUTOMATIC = new Set(["connection", "keep-alive", "date", "content-length"]);

export interface BareServer {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** A bare `node:http` server in a process of its own that answers what `target` answers now, byte for byte. */
export async function startBareServer(target: LoadTarget): Promise<BareServer> {
  // Compressed, the body read here would not be the one that was sent.
  const reply = await fetch(target.url, { headers: { ...target.headers, "accept-encoding": "identity" } });
  const body = await reply.text();
  if (reply.status !== 200) throw new Error(`${target.url} answered ${reply.status}: ${body}`);
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !AUTOMATIC.has(name)));
  const folder = await mkdtemp(join(tmpdir(), "parallax-bench-"));
  const file = join(folder, "answer.json");
  await writeFile(file, JSON.stringify({ headers, body }));
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, file], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstLineOf(child);
  await rm(folder, { recursive: true });
  return {
    url,
    pid: child.pid ?? 0,
    async close() {
      const exit = once(child, "exit");
      child.kill();
      await exit;
    },
  };
}
