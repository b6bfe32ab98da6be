import { measureQuotaAfterKills, measureQuotaOnNodes } from "../../scenarios/quota.ts";
import type { RowOptions, ScoreboardRow } from "../row.ts";

const QUOTA_STORE_FILE = "src/capabilities/accounts/metering/quota-store.ts";

const toBenchOptions = ({ quick, print }: RowOptions, rounds: number) => ({
  quick,
  print,
  rounds,
  ticks: null,
  minutes: null,
});

export const exactQuotaRow: ScoreboardRow = {
  id: "S2",
  figure: "calls that pass of a monthly limit of 1,000, with 64 callers on 3 nodes, in each round",
  target: "exactly 1,000 of 100,000 attempts, 50 rounds",
  mutations: [
    {
      defence: "the store grants units only below the limit",
      file: QUOTA_STORE_FILE,
      find: "  where held.taken < $3::int8\n  returning",
      replace: "  where held.taken < $3::int8 + 10\n  returning",
    },
  ],
  async measure(options) {
    // Throws a GuaranteeError if another number of calls passes or is stored.
    const row = await measureQuotaOnNodes(toBenchOptions(options, options.quick ? 3 : 50));
    return { isMet: row.isMet === true, value: `${row.value.min} to ${row.value.max} calls; ${row.note}` };
  },
};

export const quotaKillsRow: ScoreboardRow = {
  id: "S3",
  figure: "calls served above the limit or not counted after `kill -9` of one of 3 nodes",
  target: "0 in 20 kills",
  mutations: [
    {
      defence: "the journal of a killed node says how many units it has spent",
      file: QUOTA_STORE_FILE,
      find: "size - greatest(spent, (select spent from reported where reported.block_id = block.block_id)) as unspent",
      replace: "size - spent as unspent",
    },
  ],
  async measure(options) {
    const kills = options.quick ? 2 : 20;
    // Throws a GuaranteeError if a call is served above the limit or is not counted.
    const [row] = await measureQuotaAfterKills(toBenchOptions(options, kills));
    if (row === undefined || row.value.count !== kills) throw new Error("not all kills happened");
    return {
      isMet: row.isMet === true,
      value: `0 over, 0 not counted in ${kills} kills; ${row.value.min} to ${row.value.max} calls in flight at a kill`,
    };
  },
};
