#!/usr/bin/env node
// Plain JavaScript on purpose: it must still run, and say what is wrong, on a Node too old to run TypeScript.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Parallax needs Node 22.18 or newer and this is Node ${process.versions.node}: run "npm ci" and then "npm start", which brings its own Node.\n`,
  );
  process.exit(1);
}
const { main } = await import("../src/main.ts");
await main(process.argv.slice(2));
