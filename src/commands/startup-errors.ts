import { UserFacingError } from "../lib/user-facing-error.ts";

const REASON_LENGTH_MAX = 200;
const CAUSES_MAX = 5;

/** The service cannot start for a reason that the operator can fix. The message names the cause and the fix. */
export class StartupError extends UserFacingError {
  override readonly name = "StartupError";
}

/**
 * Describes why the PostgreSQL server cannot be used. The text contains host and database name, never user or password,
 * even if the driver's message repeats them.
 *
 * @param url  `DATABASE_URL` as configured
 */
export function databaseError(url: string, error: unknown): string {
  const { host, pathname } = new URL(url);
  return `The database at ${host}${pathname} cannot be used (${innermostMessage(error, credentialsIn(url))}). Check DATABASE_URL and the server.`;
}

/**
 * Describes why the service cannot listen on the address, and the setting to change.
 *
 * @param portSetting  name of the setting with the port
 */
export function listenError(
  address: { readonly host: string; readonly port: number },
  error: unknown,
  portSetting = "PARALLAX_PORT",
): string {
  const where = `${address.host}:${address.port}`;
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EADDRINUSE")
    return `${where} is in use by another process. Stop that process, or choose another port with ${portSetting}.`;
  if (code === "EACCES") return `This user may not listen on ${where}. Choose another port with ${portSetting}.`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `${address.host} is not an address of this machine. Choose another with PARALLAX_HOST.`;
  return `Cannot listen on ${where} (${innermostMessage(error, [])}).`;
}

/** First line of the innermost cause, without secrets. Of an AggregateError, the first error counts. */
function innermostMessage(error: unknown, secrets: readonly string[]): string {
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

function credentialsIn(url: string): string[] {
  const { username, password, searchParams } = new URL(url);
  const credentials = [password, username, searchParams.get("password") ?? "", searchParams.get("user") ?? ""];
  return credentials.flatMap((text) => [text, decodeIfValid(text)]).filter((text) => text !== "");
}

function decodeIfValid(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
