import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import { isMainThread } from "node:worker_threads";

// Preloaded into a service by the scenario `small`: each thread appends the size of its heap to a file, every ten seconds.

const INTERVAL_MS = 10_000;
const MIB = 2 ** 20;
const file = process.env.BENCH_MEMORY_FILE;
const program = basename(process.argv[1] ?? "");

if (file !== undefined && (!isMainThread || process.argv.includes("serve")))
  setInterval(() => {
    const line = { thread: isMainThread ? "main" : program, heapMib: process.memoryUsage().heapTotal / MIB };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }, INTERVAL_MS).unref();
