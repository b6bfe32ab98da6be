/** `npm run test:wire -- FOLDER`: plays recorded venue payloads to the real adapters. See README.md. */
import { parseArgs } from "node:util";
import { checkFolder, isFailed } from "./check-folder.ts";
import { formatReport } from "./report.ts";

const DETAILS_DEFAULT = 12;

const USAGE = `npm run test:wire -- FOLDER

Plays the recordings that FOLDER/index.json names to the real venue adapters, over HTTP, WebSocket and Socket.IO on
127.0.0.1, and compares every value with an independent reading of the same JSON.

Each entry of index.json has:
  file         path of the recording inside FOLDER: JSON or JSON lines, optionally compressed with gzip
  venue        kalshi, polymarket, limitless or manifold
  channel      the endpoint or the stream ("endpoint" is accepted too), for example "GET /markets/{ticker}/orderbook",
               "WS ticker" or "Socket.IO /markets"
  captured_at  time of the capture, ISO 8601; the adapters' clock stands there

Options:
  --only TEXT   check only the files whose path contains TEXT
  --details N   wrong values to show per file (default ${DETAILS_DEFAULT})
  --help

The exit code is 1 if a value is wrong, a row is left out for a reason that test/wire/README.md does not document, or a
file is not readable.
`;

const print = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean" }, only: { type: "string" }, details: { type: "string" } },
  });
  const [folder] = positionals;
  if (values.help === true || folder === undefined) {
    print(USAGE);
    return values.help === true ? 0 : 1;
  }
  const { only } = values;
  const results = await checkFolder(folder, { isWanted: (file) => only === undefined || file.includes(only) });
  print(formatReport(results, Number(values.details ?? DETAILS_DEFAULT)));
  return results.length === 0 || results.some(isFailed) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
