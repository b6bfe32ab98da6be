/** What a person is told when the service cannot start for a reason outside of it. */
import { UserFacingError } from "../lib/user-facing-error.ts";

const REASON_LENGTH_MAX = 200;
const CAUSES_MAX = 5;

/** The start failed for a reason that a person can mend; the message says which and how. */
export class StartupError extends UserFacingError {
  override readonly name = "StartError";
}

/**
 * Why the PostgreSQL server cannot be used. Names its address and database, never the user or a password: neither the
 * ones in the URL nor what a driver's message repeats of them.
 *
 * @param url  `DATABASE_URL` as configured
 */
export function databaseError(url: string, error: unknown): string {
  const { host, pathname } = new URL(url);
  return `The database at ${host}${pathname} cannot be used (${reasonOf(error, secretsOf(url))}): check DATABASE_URL and whether that server is up.`;
}

/**
 * Why the address cannot be listened on, with the setting to change.
 *
 * @param portSetting  name of the setting that holds the port
 */
export function listenError(
  address: { readonly host: string; readonly port: number },
  error: unknown,
  portSetting = "PARALLAX_PORT",
): string {
  const where = `${address.host}:${address.port}`;
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EADDRINUSE")
    return `${where} is in use by another process: stop that one first, or choose another port with ${portSetting}.`;
  if (code === "EACCES") return `This user may not listen on ${where}: choose another port with ${portSetting}.`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `${address.host} is no address of this machine: choose another with PARALLAX_HOST.`;
  return `Cannot listen on ${where} (${reasonOf(error, [])}).`;
}

/** The innermost cause says most; an error for several attempts tells the first. */
function reasonOf(error: unknown, secrets: readonly string[]): string {
  let current = error;
  for (let depth = 0; depth < CAUSES_MAX; depth++) {
    const inner =
      current instanceof AggregateError ? current.errors[0] : current instanceof Error ? current.cause : null;
    if (!(inner instanceof Error)) break;
    current = inner;
  }
  const [line = ""] = (current instanceof Error ? current.message : String(current)).split("\n");
  return secrets.reduce((text, secret) => text.replaceAll(secret, "***"), line).slice(0, REASON_LENGTH_MAX);
}

function secretsOf(url: string): string[] {
  const { username, password, searchParams } = new URL(url);
  const given = [password, username, searchParams.get("password") ?? "", searchParams.get("user") ?? ""];
  return given.flatMap((text) => [text, decoded(text)]).filter((text) => text !== "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
