// Which room may import which (ARCHITECTURE.md). `npm run check` fails on any arrow that is not drawn there.
const inside = (...rooms) => `^src/(${rooms.join("|")})/`;
const test = "\\.test\\.ts$";
const forbid = (name, from, to) => ({ name, severity: "error", from: { pathNot: test, ...from }, to });
const only = (room, ...may) =>
  forbid(
    `${room}-imports-only-${may.join("-") || "itself"}`,
    { path: inside(room) },
    { path: "^src/", pathNot: inside(room, ...may) },
  );

export default {
  forbidden: [
    only("lib"),
    only("quant", "lib"),
    only("domain", "lib"),
    only("ports", "domain"),
    ...["adapters", "venues", "http", "recording"].map((room) => only(room, "ports", "domain", "lib")),
    only("sandbox", "quant", "lib", "recording"),
    forbid(
      "the-sandbox-only-reads-recordings",
      { path: "^src/sandbox/" },
      { path: "^src/recording/", pathNot: "/(read|format|errors)\\.ts$" },
    ),
    forbid(
      "nobody-imports-the-sandbox",
      { pathNot: ["^src/sandbox/", "^src/main\\.ts$", "^(test|bench)/", test] },
      { path: "^src/sandbox/" },
    ),
    forbid("pure-rooms-do-no-io", { path: inside("quant", "domain", "lib") }, { dependencyTypes: ["core", "npm"] }),
    forbid(
      "capabilities-are-wired-in-app",
      { path: inside("capabilities") },
      { path: "^src/(adapters/|venues/|sandbox/|(app|main|config)\\.ts$)" },
    ),
    forbid(
      "capability-front-door",
      { path: "^src/capabilities/([^/]+)/" },
      { path: "^src/capabilities/[^/]+/", pathNot: ["^src/capabilities/$1/", "/index\\.ts$"] },
    ),
    forbid(
      "only-routes-and-schemas-know-http",
      { path: inside("capabilities"), pathNot: ["/(routes|schema|index)\\.ts$", test] },
      { path: ["^src/http/", "/routes\\.ts$", "node_modules/fastify"] },
    ),
    // Left out is where only types are taken from: this parser does not tell them from values.
    forbid(
      "a-command-loads-what-it-needs-when-it-is-given",
      { path: "^src/(main|config|venues/registry)\\.ts$" },
      {
        path: "^src/serve\\.ts$|^src/(adapters|cli|http|recording|sandbox|venues/[^/]+)/",
        pathNot: "^src/venues/shared/venue-ports\\.ts$",
        dynamic: false,
      },
    ),
    forbid("no-cycles", {}, { circular: true }),
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
  },
};
