import { SETTINGS } from "../config/settings.ts";
import { VENUE_MEMBERS, VENUE_SERVICES } from "../venues/registry.ts";

/** First port of `npm run sandbox`. */
export const SANDBOX_PORT = 8790;
/** Default size limit of a recording. */
export const RECORDING_MEGABYTES_MAX = 2_048;

const settingLines = SETTINGS.map(
  ({ name, defaultValue, help }) => `  ${name.padEnd(26)} ${help}${defaultValue === "" ? "" : ` [${defaultValue}]`}`,
);
const serviceLists = Object.entries(VENUE_SERVICES).map(([venue, services]) => `${venue} ${services.join("/")}`);

const memberLists = Object.entries(VENUE_MEMBERS).map(([venue, members]) => `${venue} ${members.join("/")}`);

export const renderUsage = (
  version: string,
) => `Parallax ${version}: where is the price wrong, by how much, what should I do, and how often have you been right?

  npm start                      start the service with simulated venues
  npm start -- --live            start the service on the real venues
  npm run sandbox                start only the simulated venues, for tests of other programs
  npm run record -- --out FILE   record venue data for the sandbox to replay
  npm run openapi                write openapi.json
  npx parallax customers --help  manage customers, keys, plans and quotas
  npx parallax matches --help    show which markets match across venues, pin or forbid pairs
  npx parallax track-record --help
                                 check the track record of the signals

Commands: serve (default), sandbox, record, openapi, customers, matches, track-record
Options:
  --live             same as PARALLAX_MODE=live
  --port N           sandbox: first port (default ${SANDBOX_PORT}; 0 picks free ports)
  --genesis MS       sandbox: start of the simulated world in Unix milliseconds (default: now)
  --out FILE         record: new file, gzip if it ends in .gz; see "record --help"
  --write FILE       openapi: output file (default: standard output)
  --help, --version

Settings are environment variables or lines of .env (see .env.example). An unknown PARALLAX_* name is an error.

${settingLines.join("\n")}
  PARALLAX_<VENUE>_URL, PARALLAX_<VENUE>_<SERVICE>_URL
                             base URLs of a venue; services: ${serviceLists.join(", ")}
  PARALLAX_<VENUE>_MEMBER    kind of your membership, by which the venue rounds fees; ${memberLists.join(", ")}
  PARALLAX_<VENUE>_KEY_ID, PARALLAX_<VENUE>_PRIVATE_KEY_FILE
                             API key of your account, if the venue's stream requires one
`;

export const RECORD_USAGE = `Records the data that the venue adapters receive. PARALLAX_SANDBOX_RECORDING replays the file.

  npm run record -- --out FILE [--minutes N] [--venues LIST] [--max-megabytes N] [--live]

  --out FILE          new file; gzip if it ends in .gz
  --minutes N         duration, 1 to 100000 (default: until Ctrl-C)
  --venues LIST       venues to record, in the format of PARALLAX_VENUES
  --max-megabytes N   size limit before compression (default ${RECORDING_MEGABYTES_MAX})
  --live              record the real venues; default: simulated venues, or those in PARALLAX_<VENUE>_URL

Ctrl-C completes the file and exits. docs/recording.md describes the format.
`;
