// Which folder may import which (ARCHITECTURE.md). `npm run check` fails on any import that is not allowed here.
const inside = (...folders) => `^src/(${folders.join("|")})/`;
const test = "\\.test\\.ts$";
const forbid = (name, from, to) => ({ name, severity: "error", from: { pathNot: test, ...from }, to });
const only = (folder, ...allowed) =>
  forbid(
    `${folder}-imports-only-${allowed.join("-") || "itself"}`,
    { path: inside(folder) },
    { path: "^(src|sandbox)/", pathNot: inside(folder, ...allowed) },
  );
const base = ["ports", "domain", "lib"];
/** The areas of capabilities. Each may import those before it. */
const areas = ["accounts", "markets", "events", "analysis", "strategy", "operations", "site"];

export default {
  forbidden: [
    only("lib"),
    only("domain", "lib"),
    only("quant", "domain", "lib"),
    only("text", "domain", "lib"),
    only("matching", "text", "quant", "domain", "lib"),
    only("engine", "quant", "domain", "lib"),
    only("trading", "engine", "quant", "domain", "lib"),
    only("ports", "domain"),
    ...["adapters", "venues", "http", "recording", "board", "event-log"].map((folder) => only(folder, ...base)),
    only("prompting", ...base),
    only("storage", "board", "event-log", ...base),
    only("ingest", "board", "storage", "event-log", ...base),
    only(
      "capabilities",
      "ingest",
      "board",
      "storage",
      "event-log",
      "http",
      "prompting",
      "matching",
      "text",
      "engine",
      "trading",
      "quant",
      ...base,
    ),
    ...areas
      .slice(0, -1)
      .map((area, index) =>
        forbid(
          `area-${area}-imports-no-later-area`,
          { path: `^src/capabilities/${area}/` },
          { path: `^src/capabilities/(${areas.slice(index + 1).join("|")})/` },
        ),
      ),
    only("config", "capabilities", "venues", "domain", "lib"),
    forbid(
      "the-sandbox-imports-only-lib-and-recordings",
      { path: "^sandbox/" },
      { path: "^src/", pathNot: ["^src/lib/", "^src/recording/(read|format|errors)\\.ts$"] },
    ),
    forbid(
      "venue-protocols-do-not-read-the-true-outcomes",
      { path: "^sandbox/(protocol|faults)/", pathNot: test },
      { path: "^sandbox/world/", pathNot: "^sandbox/world/(types|random)\\.ts$" },
    ),
    forbid(
      "only-commands-start-the-sandbox",
      { path: "^src/", pathNot: ["^src/commands/", test] },
      { path: "^sandbox/" },
    ),
    forbid(
      "research-imports-no-capability",
      { path: "^research/" },
      {
        path: "^src/",
        pathNot: inside(
          ...["matching", "engine", "trading", "quant", "storage", "board", "recording", "adapters", "config", ...base],
        ),
      },
    ),
    forbid("the-service-never-imports-research", { path: "^(src|sandbox)/" }, { path: "^research/" }),
    forbid(
      "pure-folders-do-no-io",
      { path: inside("domain", "lib", "text", "quant", "matching", "engine", "trading") },
      // `async_hooks` passes a value along the calls of a request; it does no I/O.
      { dependencyTypes: ["core", "npm"], pathNot: "^async_hooks$" },
    ),
    // Config reads single files: an index loads its whole capability, and every command reads the config.
    ...["^src/(capabilities/[^/]+/[^/]+)/", "^src/(?!config/|capabilities/)([^/]+)/"].map((path) =>
      forbid(
        "import-through-the-index",
        { path },
        {
          path: "^src/(capabilities/[^/]+/[^/]+|board|storage|ingest|event-log|matching|engine|trading)/",
          pathNot: ["^src/$1/", "/index\\.ts$"],
        },
      ),
    ),
    forbid(
      "only-http-files-of-a-capability-import-http",
      {
        path: inside("capabilities"),
        // The files of an area itself register routes.
        pathNot: [
          "^src/capabilities/[^/]+/[^/]+$",
          "/([a-z-]*routes|[a-z-]*schema|guards|authenticator|payment-gate|payments|index)\\.ts$",
          test,
        ],
      },
      { path: ["^src/http/(?!html/)", "/routes\\.ts$", "node_modules/fastify"] },
    ),
    // Type-only imports are left out: this parser does not tell them from values.
    forbid(
      "commands-load-on-demand",
      { path: "^src/(commands/main\\.ts$|config/|venues/registry\\.ts$)" },
      {
        path: "^src/commands/(?!usage|terminal)|^(sandbox|src/(adapters|http|recording|venues/[^/]+))/",
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
