import { AppError } from "../../domain/errors.ts";
import type { Database, Transaction } from "../../ports/database.ts";

/** No window of this length, wherever it begins, holds more than so many. */
export interface AttemptRule {
  readonly limit: number;
  readonly windowMs: number;
}

/** Instants of a subject are kept for this long; no rule's window may be longer. */
export const ATTEMPT_WINDOW_MS_MAX = 24 * 60 * 60 * 1000;

const instant = (milliseconds: string) => `to_timestamp((${milliseconds}) / 1000)`;

/** One conditional statement decides, so that no number of nodes and callers lets one too many through. */
const TAKE = `
  insert into attempts (subject, taken_at, last_at) values ($1, array[${instant("$2::float8")}], ${instant("$2::float8")})
  on conflict (subject) do update set
    taken_at = array(
      select at from unnest(attempts.taken_at) as at
      where at > ${instant(`$2::float8 - ${ATTEMPT_WINDOW_MS_MAX}`)} order by at
    ) || excluded.taken_at,
    last_at = excluded.last_at
  where not exists (
    select 1 from unnest($3::int4[], $4::float8[]) as rule (most, window_ms)
    where (select count(*) from unnest(attempts.taken_at) as at
           where at > ${instant("$2::float8 - rule.window_ms")}) >= rule.most
  )
  returning subject`;

/**
 * Takes one attempt of `subject` where every rule allows it. Gives 0 where it was taken, else the milliseconds until one
 * is allowed again; a refused one is not counted.
 *
 * @param now  Unix milliseconds
 */
export async function takeAttempt(
  store: Pick<Database, "query"> | Transaction,
  subject: string,
  rules: readonly AttemptRule[],
  now: number,
): Promise<number> {
  const parameters = [subject, now, rules.map(({ limit }) => limit), rules.map(({ windowMs }) => windowMs)];
  const taken = await store.query(TAKE, parameters);
  if (taken.length === 1) return 0;
  const [row] = await store.query<{ taken_at: Date[] }>("select taken_at from attempts where subject = $1", [subject]);
  const instants = (row?.taken_at ?? []).map((at) => at.getTime()).sort((a, b) => a - b);
  // At least a moment: between the two statements others may have moved on.
  return Math.max(1, ...rules.map((rule) => waitOf(rule, instants, now)));
}

function waitOf({ limit, windowMs }: AttemptRule, instants: readonly number[], now: number): number {
  const inWindow = instants.filter((at) => at > now - windowMs);
  const leaving = inWindow[inWindow.length - limit];
  return leaving === undefined ? 0 : leaving + windowMs - now;
}

/** @param what  in the plural */
export function tooManyAttempts(what: string, waitMs: number): AppError {
  return new AppError("rate_limited", `Too many ${what}. Try again in ${waitText(waitMs)}.`, {
    details: { retryAfterSeconds: Math.ceil(waitMs / 1000) },
  });
}

/** Never too short: rounded up. */
function waitText(waitMs: number): string {
  const seconds = Math.ceil(waitMs / 1000);
  const [count, unit] = seconds < 60 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
