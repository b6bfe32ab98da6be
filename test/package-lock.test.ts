import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly engines?: { readonly node?: string };
}

/** Counts the runtimes of all platforms, of which npm installs one. */
const PRODUCTION_PACKAGES_MAX = 165;
const PROJECT = new URL("..", import.meta.url).pathname;
const readJson = async (file: string) => JSON.parse(await readFile(join(PROJECT, file), "utf8"));
const project = await readJson("package.json");
const locked = new Map<string, LockedPackage>(Object.entries((await readJson("package-lock.json")).packages));
locked.delete("");

const namesOf = (isSelected: (entry: LockedPackage) => boolean) =>
  [...locked].filter(([, entry]) => isSelected(entry)).map(([name]) => name);
const isProduction = (entry: LockedPackage) => !entry.dev && !entry.devOptional;

test("every package has an integrity hash and comes from the default registry", () => {
  const withoutHash = namesOf(({ integrity }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""));
  assert.deepEqual(withoutHash, []);
  const elsewhere = namesOf(
    ({ resolved }) => !(resolved ?? "https://registry.npmjs.org/").startsWith("https://registry.npmjs.org/"),
  );
  assert.deepEqual(elsewhere, []);
});

test("no production package has an install script, and install scripts of others are not allowed to run", () => {
  assert.deepEqual(
    namesOf((entry) => isProduction(entry) && entry.hasInstallScript === true),
    [],
  );
  const names = namesOf(({ hasInstallScript }) => hasInstallScript === true).map((path) =>
    path.replace(/^.*node_modules\//, ""),
  );
  assert.deepEqual(project.allowScripts, Object.fromEntries(names.map((name) => [name, false])));
});

test("the service needs at most 165 packages", () => {
  const names = namesOf(isProduction);
  assert.ok(names.length <= PRODUCTION_PACKAGES_MAX, `${names.length} packages: ${names.join(" ")}`);
});

test("`npm ci` installs the native packages with the oldest supported Node version", () => {
  // Native packages, for example Biome's, are optional, and npm silently skips an optional package if its `engines`
  // exclude the Node that runs npm. If this test fails after an update, remove `engines` from package-lock.json.
  const skipped = namesOf(
    ({ os, engines }) => os !== undefined && /^>=? ?(?:2[1-9]|[3-9]\d)/.test(engines?.node ?? ""),
  );
  assert.deepEqual(skipped, []);
});

const runtimeVersion = Object.keys(project.optionalDependencies)
  .map((name) => locked.get(`node_modules/${name}`))
  .find((entry) => entry?.os?.includes(process.platform) && entry.cpu?.includes(process.arch))?.version;

test("npm scripts run on the Node version in package-lock.json", { skip: runtimeVersion === undefined }, async () => {
  const { stdout } = await promisify(execFile)(join(PROJECT, "node_modules/.bin/node"), ["--version"]);
  assert.equal(stdout.trim(), `v${runtimeVersion}`);
});
