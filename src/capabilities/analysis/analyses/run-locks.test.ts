import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { onPostgres } from "../../../../test/support/databases.ts";
import { lockRunningRuns } from "./run-queries.ts";

onPostgres("a request and the end of a run lock the run before its follower", async (database) => {
  const insert = (id: string, follows: string | null) =>
    database.query(
      `insert into analysis_runs (analysis_id, venue, market_id, status, analysis_type, turn, requested_at, follows)
       values ($1, 'alpha', 'm', 'running', 'light', 0, now(), $2::text)`,
      [id, follows],
    );
  await insert("follower", "current");
  await insert("current", null);
  const update = "update analysis_runs set turn = turn + 1 where analysis_id = $1 returning pg_backend_pid() as pid";
  let request: Promise<readonly { readonly analysisId: string }[]> | undefined;
  await database.transaction(async (transaction) => {
    const [end] = await transaction.query<{ pid: number }>(update, ["current"]);
    request = database.transaction((other) => lockRunningRuns(other, "alpha", "m"));
    const isBlocked = "select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))";
    while ((await database.query(isBlocked, [end?.pid])).length === 0) await pause(1);
    await transaction.query(update, ["follower"]);
  });
  assert.deepEqual(
    (await request)?.map(({ analysisId }) => analysisId),
    ["current", "follower"],
  );
});
