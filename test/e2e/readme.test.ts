import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { eventually, run, temporaryFolder } from "../support/service-process.ts";
import { testSandbox, venueSettings } from "../support/venues/sandbox.ts";

const PROJECT = new URL("../..", import.meta.url).pathname;

let readme: string;
let folder: { path: string; release(): Promise<void> };

before(async () => {
  readme = await readFile(`${PROJECT}README.md`, "utf8");
  folder = await temporaryFolder();
});
after(() => folder.release());

/** Matches the README's request that injects faults into a simulated venue. */
const FAULT_REQUEST_PATTERN =
  /^curl -X PUT http:\/\/127\.0\.0\.1:8790(\/faults\/kalshi) -H "Content-Type: application\/json" -d '(.*)'$/;
/** Returns the shell blocks of the README in order. */
const readCommands = () => [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]?.trim() ?? "");

/** Runs an npm script and returns the URL in its banner. */
async function startProgram(args: readonly string[], env: Record<string, string>) {
  const program = run("npm", args, env);
  const url = await eventually(
    () => /Parallax {2}(http:\/\/\S+)/.exec(program.output())?.[1] ?? null,
    `the banner of npm ${args.join(" ")}`,
  );
  await eventually(async () => ((await fetch(`${url}/readyz`)).status === 200 ? true : null), "readiness");
  return { url, program };
}

test("every command of the README is tested in .ci/run, in service.test.ts or in this file", async () => {
  const [start, call, check, live, sandbox, faults, ...otherCommands] = readCommands();
  assert.equal(start, "npm ci && npm start");
  assert.match(
    call ?? "",
    /^KEY=.*\ncurl -s -H "Authorization: Bearer \$KEY" "http:\/\/127\.0\.0\.1:8787\/v1\/markets\?/,
  );
  assert.equal(check, "npm ci && npm test");
  assert.equal(live, "npm start -- --live");
  assert.equal(sandbox, "npm run sandbox");
  assert.match(faults ?? "", FAULT_REQUEST_PATTERN);
  assert.deepEqual(otherCommands, []);
  const ci = await readFile(`${PROJECT}.ci/run`, "utf8");
  for (const command of ["npm ci", "npm test", "npm run check"])
    assert.match(ci, new RegExp(`^(limited \\d+ )?${command}$`, "m"));
});

test("`npm start -- --live` serves live data from the configured URLs", async () => {
  const sandbox = await testSandbox();
  const dataFolder = await temporaryFolder();
  const { url, program } = await startProgram(["start", "--", "--live"], {
    PARALLAX_PORT: "0",
    PARALLAX_DATA_DIR: dataFolder.path,
    ...venueSettings(sandbox),
  });
  const response = await fetch(`${url}/v1/health`);
  assert.equal(response.headers.get("x-parallax-data"), "live");
  const health = (await response.json()) as { data: string; checks: { venues: Record<string, { markets: number }> } };
  assert.equal(health.data, "live");
  for (const [venue, { markets }] of Object.entries(health.checks.venues)) assert.ok(markets > 0, venue);
  assert.doesNotMatch(program.output(), /Demo keys/);
  program.child.kill("SIGTERM");
  await program.ended;
  await sandbox.close();
  await dataFolder.release();
});

test("`npm run sandbox` prints one JSON line of base URLs and serves the control page", async () => {
  const program = run("npm", ["run", "--silent", "sandbox", "--", "--port", "0"]);
  const urls = await eventually(() => {
    const [line, rest] = program.output().split("\n");
    return rest === undefined || line === undefined ? null : JSON.parse(line);
  }, "the JSON line of base URLs");
  assert.deepEqual(Object.keys(urls).sort(), ["control", "kalshi", "limitless", "manifold", "polymarket"]);
  const page = await (await fetch(urls.control.rest)).text();
  for (const url of [urls.kalshi.rest, urls.polymarket.clob, urls.limitless.ws, urls.manifold.rest])
    assert.ok(page.includes(url));
  const [, path, body] = readCommands().flatMap((command) => FAULT_REQUEST_PATTERN.exec(command) ?? []);
  const response = await fetch(`${urls.control.rest}${path}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: body ?? "",
  });
  assert.equal(response.status, 200);
  const { venues } = (await response.json()) as { venues: { kalshi: { on: Record<string, { rate: number }> } } };
  assert.deepEqual(
    Object.entries(venues.kalshi.on).map(([name, { rate }]) => [name, rate]),
    Object.entries(JSON.parse(body ?? "")),
  );
  program.child.kill("SIGTERM");
  await program.ended;
});
