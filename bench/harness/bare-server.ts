import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstLineOf } from "../../test/support/service-process.ts";
import { endProcess } from "./child-process.ts";
import type { LoadTarget } from "./load.ts";

const PROGRAM_FILE = fileURLToPath(new URL("../programs/bare-server.ts", import.meta.url));
/** Headers that Node adds to every response; they are not copied. */
const AUTOMATIC_HEADER_NAMES = new Set(["connection", "keep-alive", "date", "content-length"]);

export interface BareServer {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts a bare `node:http` server in a child process that returns the current response of `target`, byte for byte. */
export async function startBareServer(target: LoadTarget): Promise<BareServer> {
  // `fetch` would decompress a compressed body.
  const response = await fetch(target.url, { headers: { ...target.headers, "accept-encoding": "identity" } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${target.url} returned ${response.status}: ${body}`);
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !AUTOMATIC_HEADER_NAMES.has(name)));
  const folder = await mkdtemp(join(tmpdir(), "parallax-bench-"));
  const file = join(folder, "response.json");
  await writeFile(file, JSON.stringify({ headers, body }));
  const child: ChildProcess = spawn(process.execPath, [PROGRAM_FILE, file], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstLineOf(child);
  await rm(folder, { recursive: true });
  return {
    url,
    pid: child.pid ?? 0,
    close: () => endProcess(child),
  };
}
