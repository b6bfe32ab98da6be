import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { copyStoreTemplate } from "./store-template.ts";

const PROJECT = new URL("../..", import.meta.url).pathname;
const START_WORDS: readonly string[] = JSON.parse(
  readFileSync(join(PROJECT, "package.json"), "utf8"),
).scripts.start.split(" ");
const NODE_POSITION = START_WORDS.indexOf("node");
/** The arguments and environment variables that `npm start` passes to Node. */
export const START_ARGUMENTS = START_WORDS.slice(NODE_POSITION + 1);
export const START_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  START_WORDS.slice(0, NODE_POSITION)
    .map((word) => word.split("="))
    .filter(([, value]) => value !== undefined),
);
const START_MS_MAX = 60_000;
const POLL_MS = 50;
/** A progress line of the start, such as "  Opening the store in /data … 2 s". */
const PROGRESS_LINE = /^ {2}.* …(?: \d+ s)?$/;

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on untyped JSON
  readonly json: any;
}

export interface ServiceProcess {
  readonly url: string;
  readonly sandboxUrl: string | null;
  readonly dataDir: string;
  readonly keys: { readonly free: string; readonly pro: string; readonly enterprise: string };
  readonly pid: number;
  /** Standard output and error so far. */
  output(): string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<ServiceResponse>;
  /**
   * Sends a signal, waits for the exit and returns the exit code. The default is SIGINT, which shuts the service down
   * gracefully without delay. After SIGTERM the service responds for two more seconds.
   */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Creates a folder; `release` removes it. */
export async function temporaryFolder(): Promise<{ path: string; release(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "parallax-test-"));
  return { path, release: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Runs a command in the project directory without `PARALLAX_*` settings of this process and of a `.env` file, and collects
 * its output.
 */
export function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: "ignore" | "pipe" = "ignore",
  project = PROJECT,
): { child: ChildProcess; output(): string; ended: Promise<number | null> } {
  const inheritedEnv = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith("PARALLAX_") && name !== "DATABASE_URL" && !name.startsWith("NODE_TEST"),
    ),
  );
  const child = spawn(command, [...args], {
    cwd: project,
    env: { ...inheritedEnv, PARALLAX_ENV_FILE: "/dev/null", ...env },
    stdio: [stdin, "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8");
    stream?.on("data", (chunk: string) => {
      text += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return { child, output: () => text, ended };
}

/** Polls until `check` returns a value other than null, with a pause of `pauseMs`. Throws after `withinMs`. */
export async function eventually<T>(
  check: () => Promise<T | null> | T | null,
  description: string,
  withinMs = START_MS_MAX,
  pauseMs = POLL_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const result = await check();
    if (result !== null) return result;
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${description}`);
    await sleep(pauseMs);
  }
}

/** Lines of the output of a command, without empty lines and progress lines of the start. */
export function linesWithoutProgress(output: string): readonly string[] {
  return output.split("\n").filter((line) => line.trim() !== "" && !PROGRESS_LINE.test(line));
}

/**
 * Starts the service on a free port.
 *
 * @param options.createsStore  whether the service creates the store; by default a template is copied
 * @param options.project       folder of the project, if it is not this one
 * @param options.isReady       whether to wait until the service is ready; true by default
 */
export async function startServiceProcess(options: {
  dataDir: string;
  project?: string;
  createsStore?: boolean;
  env?: Readonly<Record<string, string>>;
  args?: readonly string[];
  isReady?: boolean;
}): Promise<ServiceProcess> {
  const { dataDir } = options;
  if (options.createsStore !== true && options.env?.DATABASE_URL === undefined) await copyStoreTemplate(dataDir);
  const env = { PARALLAX_PORT: "0", PARALLAX_DATA_DIR: dataDir, ...START_ENVIRONMENT, ...options.env };
  const args = [...START_ARGUMENTS, ...(options.args ?? [])];
  const program = run(process.execPath, args, env, "ignore", options.project);
  const exited = program.ended.then(() => true);
  /** A service that does not become ready would keep running after the test. */
  const endIfFailed = (error: unknown): never => {
    program.child.kill("SIGKILL");
    throw error;
  };
  const url = await eventually(async () => {
    const match = /Parallax {2}(http:\/\/\S+)|health checks on ([^\s)]+)/.exec(program.output());
    if (match !== null) return match[1] ?? `http://${match[2]}`;
    if (await Promise.race([exited, false])) throw new Error(`the service exited:\n${program.output()}`);
    return null;
  }, "the banner").catch(endIfFailed);
  const keys = await readFile(join(dataDir, "demo-keys.json"), "utf8").then(
    (text) => JSON.parse(text),
    () => ({ free: "", pro: "", enterprise: "" }),
  );
  const get = async (
    path: string,
    headers: Readonly<Record<string, string>> = { authorization: `Bearer ${keys.enterprise}` },
  ): Promise<ServiceResponse> => {
    const response = await fetch(`${url}${path}`, { headers, redirect: "manual" });
    const text = await response.text();
    let json: unknown = null;
    try {
      json = JSON.parse(text);
    } catch {
      json = null;
    }
    return { status: response.status, headers: response.headers, text, json };
  };
  if (options.isReady !== false)
    await eventually(async () => ((await get("/readyz")).status === 200 ? true : null), "readiness").catch(endIfFailed);
  return {
    url,
    sandboxUrl: /Venues {4}(http:\/\/\S+)/.exec(program.output())?.[1] ?? null,
    dataDir,
    keys,
    pid: program.child.pid ?? 0,
    output: program.output,
    get,
    async end(signal = "SIGINT") {
      program.child.kill(signal);
      return program.ended;
    },
  };
}

/** Reads all markets of a list, page by page with the `Link` headers. */
// biome-ignore lint/suspicious/noExplicitAny: untyped JSON
export async function everyMarket(service: ServiceProcess, query = ""): Promise<any[]> {
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON
  const markets: any[] = [];
  let path: string | null = `/v1/markets?limit=100${query}`;
  while (path !== null) {
    const response: ServiceResponse = await service.get(path);
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${response.text}`);
    markets.push(...response.json);
    path = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? null;
  }
  return markets;
}

/** Reads the first line of a program's output. */
export async function firstLineOf(child: ChildProcess): Promise<string> {
  const { stdout } = child;
  if (stdout === null) throw new Error("no output");
  return new Promise((resolve) => createInterface({ input: stdout }).once("line", resolve));
}
