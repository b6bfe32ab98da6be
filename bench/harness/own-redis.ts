import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { eventually } from "../../test/support/service-process.ts";
import { endProcess, findFreePort } from "./child-process.ts";
import { SkippedError } from "./scenario.ts";

/** A Redis server that a measurement may stop, freeze and empty. */
export interface OwnRedis extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
  empty(): Promise<void>;
}

/** Starts an empty Redis server on a free port. @throws SkippedError if `redis-server` is not installed */
export async function startOwnRedis(): Promise<OwnRedis> {
  const port = await findFreePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  const sendCommand = async <Result>(run: (redis: Redis) => Promise<Result>): Promise<Result> => {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    redis.on("error", () => {});
    try {
      await redis.connect();
      return await run(redis);
    } finally {
      redis.disconnect();
    }
  };
  const start = async () => {
    const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    child = spawn("redis-server", args, { stdio: "ignore" });
    const failed = once(child, "error").then(([error]) => {
      throw new SkippedError(`redis-server cannot be started here (${String(error)})`);
    });
    const ping = () =>
      sendCommand((redis) => redis.ping()).then(
        () => true,
        () => null,
      );
    await Promise.race([eventually(ping, "Redis"), failed]);
  };
  const stop = async () => {
    if (child !== null) await endProcess(child, "SIGKILL");
  };
  await start();
  return {
    url,
    start,
    stop,
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    empty: () => sendCommand(async (redis) => void (await redis.flushall())),
    [Symbol.asyncDispose]: stop,
  };
}
