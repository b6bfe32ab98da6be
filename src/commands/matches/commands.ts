import type {
  MatchDecision,
  MatchDecisions,
  Matching,
  MatchRequest,
} from "../../capabilities/markets/matching/index.ts";
import type { MarketPair } from "../../matching/index.ts";
import {
  type Arguments,
  type CommandOutput,
  type CommandResult,
  type OperatorCommand,
  type OptionValues,
  parseCommand,
  parseInteger,
  type Subcommand,
} from "../operator/command.ts";
import { formatColumns, replaceControlCharacters } from "../operator/format.ts";
import { type PairDefaults, parsePairFile } from "./pair-file.ts";
import { LIST_PAIRS_MAX, MATCHES_USAGE } from "./usage.ts";

const LIST_LIMIT_DEFAULT = 50;
/** Maximum number of unknown markets that a warning names. */
const UNKNOWN_SHOWN_MAX = 20;
const NO_PAIRS_NOTE = "Pairs are not shown: no service that matches markets is running on this data directory.\n";

export interface MatchesContext {
  readonly decisions: MatchDecisions;
  /** The pairs of the running service; absent without one. */
  readonly pairs?: Matching["pairs"];
}

const OPTIONS = {
  market: { type: "string" },
  limit: { type: "string" },
  note: { type: "string" },
  inverse: { type: "boolean" },
  file: { type: "string" },
} as const;

type Options = OptionValues<typeof OPTIONS>;

/** Parses the arguments after `matches`. Returns a result for `--help` and for invalid usage (exit code 2). */
export function parseMatchesCommand(argv: readonly string[]): CommandResult | OperatorCommand<MatchesContext> {
  return parseCommand({ name: "matches", usage: MATCHES_USAGE, options: OPTIONS, subcommands: SUBCOMMANDS }, argv);
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand<MatchesContext, Options>>> = {
  list: {
    argumentCount: [0, 0],
    options: ["market", "limit"],
    needsService: true,
    parse({ options }) {
      const limit = parseInteger("--limit", options.limit ?? String(LIST_LIMIT_DEFAULT), LIST_PAIRS_MAX);
      return ({ decisions, pairs }) => listMatches(decisions, pairs?.() ?? null, options.market ?? null, limit);
    },
  },
  pin: createDecisionCommand(["note", "inverse", "file"], ({ options }) =>
    options.inverse === true ? "inverse" : "identical",
  ),
  forbid: createDecisionCommand(["note", "file"], () => "forbidden"),
  clear: {
    argumentCount: [2, 2],
    options: [],
    parse(args) {
      const [a, b] = parseMarkets(args);
      return async ({ decisions }) => {
        const cleared = await decisions.clear(a, b);
        const text = cleared ? "The decision is deleted.\n" : "There was no decision about these markets.\n";
        return { json: { cleared }, text };
      };
    },
  },
};

const parseMarkets = ({ at }: Arguments<Options>) => [at(0, "two markets"), at(1, "two markets")] as const;

function createDecisionCommand(
  options: readonly (keyof Options)[],
  decisionOf: (args: Arguments<Options>) => MatchDecision["decision"],
): Subcommand<MatchesContext, Options> {
  return {
    argumentCount: ({ file }) => (file === undefined ? [2, 2] : [0, 0]),
    options,
    inputFile: (args) => args.options.file ?? null,
    parse(args) {
      const { file, note = null } = args.options;
      const markets = file === undefined ? parseMarkets(args) : null;
      const decision = decisionOf(args);
      return ({ decisions }, { id }, input) => {
        const defaults = { decision, note, decidedBy: id };
        return markets === null
          ? decideFile(decisions, input, defaults)
          : decideOne(decisions, { markets, decision, note, decidedBy: id });
      };
    },
  };
}

async function decideOne(decisions: MatchDecisions, request: MatchRequest): Promise<CommandOutput> {
  const stored = await decisions.decide(request);
  return {
    json: presentDecision(stored),
    text: formatDecisions([stored]),
    note: await warnOfUnknown(decisions, request.markets),
  };
}

/** Stores the decisions of all lines or none. */
async function decideFile(decisions: MatchDecisions, text: string, defaults: PairDefaults): Promise<CommandOutput> {
  const requests = parsePairFile(text, defaults, (request) => {
    const { a, b } = decisions.checkRequest(request);
    return `${a} ${b}`;
  });
  const stored = await decisions.decideAll(requests);
  const counts = { identical: 0, inverse: 0, forbidden: 0 };
  for (const { decision } of stored) counts[decision] += 1;
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return {
    json: { stored: stored.length, ...counts },
    text: `Stored ${stored.length} decisions: ${parts.map(([decision, count]) => `${count} ${decision}`).join(", ")}.\n`,
    note: await warnOfUnknown(decisions, [...new Set(requests.flatMap(({ markets }) => markets))]),
  };
}

async function warnOfUnknown(decisions: MatchDecisions, markets: readonly string[]): Promise<string> {
  const unknown = await decisions.listUnknown(markets);
  const lines = unknown
    .slice(0, UNKNOWN_SHOWN_MAX)
    .map((id) => `Warning: ${id} is not in the store. Check the id, unless it is not listed now.\n`);
  const more = unknown.length - lines.length;
  return `${lines.join("")}${more > 0 ? `Warning: ${more} more markets are not in the store.\n` : ""}`;
}

async function listMatches(
  { list, checkId }: MatchDecisions,
  pairs: Iterable<MarketPair> | null,
  market: string | null,
  limit: number,
): Promise<CommandOutput> {
  if (market !== null) checkId(market);
  const concerns = ({ a, b }: { readonly a: string; readonly b: string }) =>
    market === null || market === a || market === b;
  const decisions = (await list()).filter(concerns);
  const shown: MarketPair[] = [];
  let count = 0;
  for (const pair of pairs ?? []) {
    if (!concerns(pair)) continue;
    count += 1;
    if (shown.length < limit) shown.push(pair);
  }
  const more = count > shown.length ? `${count - shown.length} more pairs: use --limit or --market\n` : "";
  return {
    json: { decisions: decisions.map(presentDecision), pairs: pairs === null ? null : shown.map(presentPair) },
    text: `${formatDecisions(decisions)}${pairs === null ? "" : `\n${formatPairs(shown)}`}`,
    note: pairs === null ? NO_PAIRS_NOTE : more,
  };
}

const presentDecision = ({ a, b, decision, note, decidedBy, decidedAt }: MatchDecision) => ({
  market_a: a,
  market_b: b,
  decision,
  note,
  decided_by: decidedBy,
  decided_at: new Date(decidedAt).toISOString(),
});

const presentPair = ({ a, b, relation, confidence, source, evidence }: MarketPair) => ({
  market_a: a,
  market_b: b,
  relation,
  confidence,
  source,
  evidence,
});

function formatDecisions(decisions: readonly MatchDecision[]): string {
  return formatColumns(
    ["market", "market", "decision", "by", "time", "note"],
    decisions
      .map(presentDecision)
      .map((row) => [
        ...[row.market_a, row.market_b, row.decision, row.decided_by],
        ...[row.decided_at.slice(0, 16), row.note],
      ]),
  );
}

/** One line for each pair, followed by its evidence. */
function formatPairs(pairs: readonly MarketPair[]): string {
  const [header = "", ...rows] = formatColumns(
    ["market", "market", "relation", "confidence", "source"],
    pairs.map(({ a, b, relation, confidence, source }) => [a, b, relation, confidence.toFixed(3), source]),
  ).split("\n");
  const lines = pairs.flatMap(({ evidence }, index) => [
    rows[index] ?? "",
    ...evidence.map((sentence) => `    ${replaceControlCharacters(sentence)}`),
  ]);
  return `${[header, ...lines].join("\n")}\n`;
}
