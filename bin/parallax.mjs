#!/usr/bin/env node
// Plain JavaScript on purpose: it must still run, and say what is wrong, on a Node too old to run TypeScript.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Parallax needs Node 22.18 or newer and this is Node ${process.versions.node}. On Linux and macOS (x64, arm64), run "npm ci", which installs Node, and then "npm start". On other systems, install Node 24.\n`,
  );
  process.exit(1);
}
// Keeps the compiled code for the next start. Has no effect if the folder cannot be written.
const { enableCompileCache } = await import("node:module");
const { directory } = enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/parallax`);
// Worker threads and the simulated venues read the variable.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ||= directory;
const { main } = await import("../src/commands/main.ts");
await main(process.argv.slice(2));
