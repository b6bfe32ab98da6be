import { UserFacingError } from "../lib/user-facing-error.ts";

const REASON_LENGTH_MAX = 200;
const CAUSE_DEPTH_MAX = 5;

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
export function describeDatabaseError(url: string, error: unknown): string {
  const { host, pathname } = new URL(url);
  return `The database at ${host}${pathname} cannot be used (${findInnermostMessage(error, extractCredentials(url))}). Check DATABASE_URL and the server.`;
}

/**
 * Describes why the service cannot listen on the address, and the setting to change.
 *
 * @param portSetting  name of the setting with the port
 */
export function describeListenError(
  address: { readonly host: string; readonly port: number },
  error: unknown,
  portSetting = "PARALLAX_PORT",
): string {
  const addressText = `${address.host}:${address.port}`;
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EADDRINUSE")
    return `${addressText} is in use by another process. Stop that process, or choose another port with ${portSetting}.`;
  if (code === "EACCES") return `This user may not listen on ${addressText}. Choose another port with ${portSetting}.`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `${address.host} is not an address of this machine. Choose another with PARALLAX_HOST.`;
  return `Cannot listen on ${addressText} (${findInnermostMessage(error, [])}).`;
}

/** First line of the innermost cause, without secrets. Follows the first error of an AggregateError. */
function findInnermostMessage(error: unknown, secrets: readonly string[]): string {
  let currentError = error;
  for (let depth = 0; depth < CAUSE_DEPTH_MAX; depth++) {
    const innerError =
      currentError instanceof AggregateError
        ? currentError.errors[0]
        : currentError instanceof Error
          ? currentError.cause
          : null;
    if (!(innerError instanceof Error)) break;
    currentError = innerError;
  }
  const [line = ""] = (currentError instanceof Error ? currentError.message : String(currentError)).split("\n");
  return secrets.reduce((text, secret) => text.replaceAll(secret, "***"), line).slice(0, REASON_LENGTH_MAX);
}

function extractCredentials(url: string): string[] {
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
