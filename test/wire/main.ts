/** `npm run test:wire -- FOLDER`: plays recorded venue payloads to the real adapters. See README.md. */
import { parseArgs } from "node:util";
import { checkFolder, formatReport, isFailed } from "./check-folder.ts";

const DETAILS_DEFAULT = 12;

const USAGE = `npm run test:wire -- FOLDER

Plays the recordings that FOLDER/index.json names to the real venue adapters and compares what they return with
test/wire/expected/. Each entry of index.json has:
  file         path of the recording inside FOLDER: JSON or JSON lines, optionally compressed with gzip
  venue        kalshi, polymarket, limitless or manifold; by default the first part of the path
  channel      the endpoint or the stream ("endpoint" is accepted too), for example "GET /markets/{ticker}/orderbook",
               "WS ticker" or "Socket.IO /markets"
  captured_at  time of the capture, ISO 8601; the adapters' clock stands there

Options:
  --only TEXT   check only the files whose path contains TEXT
  --details N   wrong values to show per file (default ${DETAILS_DEFAULT})
  --write       replace the expected values by what the adapters return; review the change
  --help

The exit code is 1 if a value is wrong or missing, or if a file is not readable.
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: "boolean" },
      write: { type: "boolean" },
      only: { type: "string", default: "" },
      details: { type: "string", default: String(DETAILS_DEFAULT) },
    },
  });
  const [folder] = positionals;
  if (values.help === true || folder === undefined) {
    process.stdout.write(USAGE);
    return values.help === true ? 0 : 1;
  }
  const isWanted = (file: string) => file.includes(values.only);
  const results = await checkFolder(folder, { isWanted, isWriting: values.write });
  process.stdout.write(`${formatReport(results, Number(values.details))}\n`);
  return results.length === 0 || results.some(isFailed) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
