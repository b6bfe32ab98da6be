import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "../../../test/support/service-process.ts";
import type { ScoreboardRow } from "../row.ts";

const runCommand = promisify(execFile);
const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const OUTPUT_BYTES_MAX = 1 << 24;
const AUDIT_MS_MAX = 30_000;

interface LockedPackage {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

export const packagesRow: ScoreboardRow = {
  id: "S30",
  figure: "production packages, their install scripts and known weaknesses, and differences between two builds",
  target: "0 install scripts, 0 without an integrity hash, 0 advisories (high or critical), 2 builds equal",
  mutations: [
    {
      defence: "no production package has an install script",
      file: "package-lock.json",
      find: '"node_modules/fastify": {',
      replace: '"node_modules/fastify": {\n      "hasInstallScript": true,',
    },
  ],
  async measure() {
    const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
      await readFile(join(PROJECT, "package-lock.json"), "utf8"),
    );
    const packages = Object.entries(lock.packages).filter(
      ([name, { dev, devOptional }]) => name !== "" && dev !== true && devOptional !== true,
    );
    if (packages.length === 0) throw new Error("package-lock.json lists no package");
    const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true).length;
    const unhashed = packages.filter(([, { integrity }]) => integrity === undefined).length;
    const builds = [await hashBuild(), await hashBuild()];
    const areBuildsEqual = builds[0] === builds[1];
    const advisories = await countAdvisories();
    return {
      isMet: scripts === 0 && unhashed === 0 && areBuildsEqual && (advisories ?? 0) === 0,
      value: `${packages.length} packages, ${scripts} install scripts, ${unhashed} without an integrity hash, builds ${areBuildsEqual ? "equal" : "different"}, advisories: ${advisories ?? "not here, the registry gives none"}`,
    };
  },
};

/** Packs the project and returns the SHA-256 of the archive. */
async function hashBuild(): Promise<string> {
  const folder = await temporaryFolder();
  try {
    const args = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", folder.path];
    const { stdout } = await runCommand("npm", args, { cwd: PROJECT, maxBuffer: OUTPUT_BYTES_MAX });
    const [archive]: { readonly filename: string }[] = JSON.parse(stdout);
    if (archive === undefined) throw new Error("npm pack made no archive");
    return hash("sha256", await readFile(join(folder.path, archive.filename)), "hex");
  } finally {
    await folder.release();
  }
}

/** Returns the number of high and critical advisories, or null if the registry gives none. */
async function countAdvisories(): Promise<number | null> {
  const options = { cwd: PROJECT, maxBuffer: OUTPUT_BYTES_MAX, timeout: AUDIT_MS_MAX };
  // The command exits with 1 if it finds advisories; its output is the same.
  const output = await runCommand("npm", ["audit", "--omit=dev", "--json"], options).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string }) => error.stdout ?? "",
  );
  try {
    const { vulnerabilities } = JSON.parse(output).metadata;
    return vulnerabilities.high + vulnerabilities.critical;
  } catch {
    return null;
  }
}
