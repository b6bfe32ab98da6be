import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database } from "../../../ports/database.ts";
import type { Judgement } from "./judge-prompt.ts";

/** A question to the model about two texts, which is identified by the hash of the texts. */
export interface StoredJudgement {
  readonly textHash: string;
  /** Null if the model has not answered. */
  readonly relation: Judgement["relation"] | null;
  readonly reason: string | null;
  readonly model: string;
  readonly attempts: number;
  /** Unix milliseconds. */
  readonly askedAt: number;
}

export function selectJudgements(database: Database, textHashes: readonly string[]): Promise<StoredJudgement[]> {
  return database.query<StoredJudgement>(
    `select text_hash as "textHash", relation, reason, model, attempts, ${toMillisSql("asked_at")} as "askedAt"
     from match_judgements where text_hash = any($1::text[])`,
    [textHashes],
  );
}

/** Number of the lock that makes claims of all nodes take turns, so that they share one budget. */
const CLAIM_LOCK_ID = 7_031_977;

/**
 * Claims a call, so that no other node makes it.
 *
 * @param claim.costUsd  maximum cost of the call, counted until `settleJudgement`
 * @returns `taken` if the texts have a judgement, a call is running, or all attempts were used; `budget` if the costs
 *   since `limits.spentSince` and this one exceed `limits.budgetUsd`
 */
export function claimJudgement(
  database: Database,
  claim: { readonly textHash: string; readonly model: string; readonly costUsd: number; readonly now: number },
  limits: {
    /** Claims before this time count as interrupted. Unix milliseconds. */
    readonly claimedBefore: number;
    readonly attemptsMax: number;
    readonly spentSince: number;
    readonly budgetUsd: number;
  },
): Promise<"claimed" | "taken" | "budget"> {
  const { textHash, model, costUsd, now } = claim;
  const { claimedBefore, attemptsMax, spentSince, budgetUsd } = limits;
  return database.transaction(async (transaction) => {
    await transaction.query("select pg_advisory_xact_lock($1)", [CLAIM_LOCK_ID]);
    const [spent] = await transaction.query<{ usd: number }>(
      `select coalesce(sum(cost_usd), 0)::float8 as usd from match_judgements
       where asked_at >= ${toTimestampSql("$1")}`,
      [spentSince],
    );
    if ((spent?.usd ?? 0) + costUsd > budgetUsd) return "budget";
    const rows = await transaction.query(
      `insert into match_judgements as stored (text_hash, model, attempts, cost_usd, asked_at)
       values ($1, $2, 1, $3, ${toTimestampSql("$4")})
       on conflict (text_hash) do update set model = excluded.model, attempts = stored.attempts + 1,
         cost_usd = stored.cost_usd + excluded.cost_usd, asked_at = excluded.asked_at
       where stored.relation is null and stored.attempts < $6
         and (stored.attempts = 0 or stored.asked_at < ${toTimestampSql("$5")})
       returning 1`,
      [textHash, model, costUsd, now, claimedBefore, attemptsMax],
    );
    return rows.length > 0 ? "claimed" : "taken";
  });
}

/**
 * Stores the result of a claimed call.
 *
 * @param result.costCorrectionUsd  actual minus claimed cost
 * @param result.extraAttempts  added to the number of attempts
 */
export async function settleJudgement(
  database: Database,
  textHash: string,
  result: {
    readonly judgement: Judgement | null;
    readonly costCorrectionUsd: number;
    readonly extraAttempts: number;
  },
): Promise<void> {
  const { judgement, costCorrectionUsd, extraAttempts } = result;
  await database.query(
    `update match_judgements set relation = $2, reason = $3, cost_usd = greatest(0, cost_usd + $4),
       attempts = attempts + $5
     where text_hash = $1 and relation is null`,
    [textHash, judgement?.relation ?? null, judgement?.reason ?? null, costCorrectionUsd, extraAttempts],
  );
}

export async function deleteOldJudgements(database: Database, before: number): Promise<void> {
  await database.query(`delete from match_judgements where asked_at < ${toTimestampSql("$1")}`, [before]);
}
