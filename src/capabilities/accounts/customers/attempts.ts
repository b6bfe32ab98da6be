import { HOUR_MS } from "../../../lib/durations.ts";
import { toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";

/** At most `limit` attempts in any sliding window of `windowMs`. */
export interface AttemptRule {
  readonly limit: number;
  readonly windowMs: number;
}

/** Retention of attempt timestamps. No rule may have a longer window. */
export const ATTEMPT_WINDOW_MS_MAX = 24 * HOUR_MS;

/** Checks and records in one statement, so that concurrent calls on several nodes cannot exceed the limit. */
const TAKE_ATTEMPT_SQL = `
  insert into attempts (subject, taken_at, last_at) values ($1, array[${toTimestampSql("$2")}], ${toTimestampSql("$2")})
  on conflict (subject) do update set
    taken_at = array(
      select at from unnest(attempts.taken_at) as at
      where at > ${toTimestampSql(`($2::float8 - ${ATTEMPT_WINDOW_MS_MAX})`)} order by at
    ) || excluded.taken_at,
    last_at = excluded.last_at
  where not exists (
    select 1 from unnest($3::int4[], $4::float8[]) as rule (max_count, window_ms)
    where (select count(*) from unnest(attempts.taken_at) as at
           where at > ${toTimestampSql("($2::float8 - rule.window_ms)")}) >= rule.max_count
  )
  returning subject`;

/**
 * Records an attempt of `subject` if all rules allow it. Rejected attempts are not recorded.
 *
 * @param now  Unix milliseconds
 * @returns  0 if the attempt is allowed, else the milliseconds until an attempt is allowed
 */
export async function takeAttempt(
  queryRunner: Pick<Database, "query"> | Transaction,
  subject: string,
  rules: readonly AttemptRule[],
  now: number,
): Promise<number> {
  const parameters = [subject, now, rules.map(({ limit }) => limit), rules.map(({ windowMs }) => windowMs)];
  const insertedRows = await queryRunner.query(TAKE_ATTEMPT_SQL, parameters);
  if (insertedRows.length === 1) return 0;
  const [row] = await queryRunner.query<{ taken_at: Date[] }>("select taken_at from attempts where subject = $1", [
    subject,
  ]);
  const attemptTimes = (row?.taken_at ?? []).map((at) => at.getTime()).sort((a, b) => a - b);
  // At least 1 ms, because the attempts may have changed between the two statements.
  return Math.max(1, ...rules.map((rule) => computeWaitMs(rule, attemptTimes, now)));
}

function computeWaitMs({ limit, windowMs }: AttemptRule, attemptTimes: readonly number[], now: number): number {
  const attemptsInWindow = attemptTimes.filter((at) => at > now - windowMs);
  const nextToExpire = attemptsInWindow[attemptsInWindow.length - limit];
  return nextToExpire === undefined ? 0 : nextToExpire + windowMs - now;
}
