import { hash } from "node:crypto";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { createKey, createKeyDirectory } from "../../../src/capabilities/accounts/keys/index.ts";
import { replaceKey } from "../../../src/capabilities/accounts/keys/queries.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { seededUniform } from "../../../test/support/research/sample-web.ts";
import { openTemporaryStore } from "../../harness/open-store.ts";
import type { ScoreboardRow } from "../row.ts";

const SAMPLES = 1_000_000;
const SAMPLES_QUICK = 100_000;
const T_MAX = 4.5;
/** Samples above this quantile are dropped. They include pauses of the process, which would hide a difference. */
const KEPT_SHARE = 0.9;
/** Many keys, because the time of a look-up depends on the address of the key in memory. */
const KEYS_PER_KIND = 1_500;
const KINDS = ["unknown", "revoked", "nearly right"] as const;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** Random characters at the end of a key in which similar keys may differ. */
const DIFFERENT_CHARACTERS = 3;

export const keyTimingRow: ScoreboardRow = {
  id: "S25",
  figure: "difference of the time of a look-up between unknown, revoked and nearly right keys (Welch's t)",
  target: `|t| < ${T_MAX} with 1,000,000 samples each`,
  mutations: [
    {
      defence: "keys are compared by their hashes",
      file: "src/capabilities/accounts/keys/key-directory.ts",
      find: "      const hash = hashOfKey(key);\n      if (hash === null) return null;\n      const entry = entries.get(hash);",
      replace:
        "      for (const known of entriesByText.keys()) {\n        let position = 0;\n        while (position < key.length && known[position] === key[position]) position += 1;\n        if (position === key.length) break;\n      }\n      const hash = hashOfKey(key);\n      if (hash === null) return null;\n      const entry = entries.get(hash);",
    },
  ],
  async measure({ quick, seed }) {
    const samples = quick ? SAMPLES_QUICK : SAMPLES;
    const times = await measureLookups(samples, seededUniform(seed));
    const pairs = KINDS.map((kind, index) => {
      const other = KINDS[(index + 1) % KINDS.length] ?? kind;
      return { name: `${kind} : ${other}`, t: welchT(times[kind], times[other]) };
    });
    const means = KINDS.map((kind) => `${kind} ${Math.round(meanOf(times[kind]))} ns`);
    return {
      isMet: pairs.every(({ t }) => Math.abs(t) < T_MAX),
      value: `${pairs.map(({ name, t }) => `${name} t = ${t.toFixed(2)}`).join(", ")}; ${means.join(", ")}; ${samples} samples each`,
    };
  },
};

/**
 * Measures cached look-ups of keys of each kind, in random order, beside a valid key in use. Returns the mean nanoseconds of
 * each key, because the samples of one key are not independent.
 */
async function measureLookups(samples: number, uniform: () => number) {
  await using closers = new AsyncDisposableStack();
  const database = await openTemporaryStore(closers);
  // The fake clock does not advance, so that no entry expires during the measurement.
  const clock = new FakeClock();
  const directory = createKeyDirectory({ database, clock });
  const valid = createKey(systemRandom, "pro");
  const validKey = valid.key;
  await replaceKey(database, { customerId: "cus-1", plan: "pro" }, { ...valid, keyId: "key-1", name: "valid" }, 0);
  const keys = {
    unknown: createSimilarKeys(createKey(systemRandom, "pro").key),
    revoked: createSimilarKeys(createKey(systemRandom, "pro").key),
    "nearly right": createSimilarKeys(validKey),
  };
  await database.query(
    `insert into api_keys (key_hash, key_id, customer_id, plan, prefix, name, created_at, revoked_at)
     select decode(hash, 'hex'), hash, 'cus-1', 'pro', 'plx_pro_aaaa', hash, now(), now() from unnest($1::text[]) as hash`,
    [keys.revoked.map((key) => hash("sha256", key, "hex"))],
  );
  if ((await directory.find(validKey, null)) === null) throw new Error("the valid key is not valid");
  // In random order, so that the address in memory does not depend on the kind.
  const texts = KINDS.flatMap((kind) => keys[kind].map((key) => ({ kind, key, order: uniform() })))
    .sort((a, b) => a.order - b.order)
    .map(({ kind, key }) => ({ kind, bytes: Buffer.from(key), times: [] as number[] }));
  // Simultaneous look-ups share few queries. More queries would exceed their limit per second, as the clock stands still.
  const owners = await Promise.all(texts.map(({ bytes }) => directory.find(bytes.toString("latin1"), null)));
  if (owners.some((owner) => owner !== null)) throw new Error("an unknown, revoked or similar key is valid");
  for (let sample = 0; sample < samples * KINDS.length; sample++) {
    const text = texts[Math.floor(uniform() * texts.length)];
    if (text === undefined) throw new Error("there is no key");
    // The valid key is used between the others, so that its text is in memory.
    directory.find(validKey, null);
    const key = text.bytes.toString("latin1");
    const startedAt = process.hrtime.bigint();
    directory.find(key, null);
    text.times.push(Number(process.hrtime.bigint() - startedAt));
  }
  return meanTimesOf(texts);
}

/**
 * Creates keys with a right checksum that equal a key but for the last three random characters. Keys of each kind are
 * similar, because branch prediction adapts to repeated characters, whatever they are compared with.
 */
function createSimilarKeys(base: string): string[] {
  const characters = base.slice(base.lastIndexOf("_") + 1);
  return Array.from({ length: KEYS_PER_KIND }, (_, number) => {
    const createBytes = (length: number) =>
      Uint8Array.from({ length }, (_value, position) => {
        const digit = length - 1 - position;
        const change = digit < DIFFERENT_CHARACTERS ? Math.floor((number + 1) / ALPHABET.length ** digit) : 0;
        return (ALPHABET.indexOf(characters[position] ?? "") + change) % ALPHABET.length;
      });
    return createKey({ ...systemRandom, bytes: createBytes }, "pro").key;
  });
}

/** Mean time of each key by kind, without the samples above a quantile of all samples together. */
function meanTimesOf(texts: readonly { readonly kind: (typeof KINDS)[number]; readonly times: readonly number[] }[]) {
  const sorted = Float64Array.from(texts.flatMap(({ times }) => times)).sort();
  const timeMax = sorted[Math.floor(sorted.length * KEPT_SHARE)] ?? Number.NaN;
  const means = { unknown: [] as number[], revoked: [] as number[], "nearly right": [] as number[] };
  for (const { kind, times } of texts) means[kind].push(meanOf(times.filter((time) => time <= timeMax)));
  return means;
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function welchT(first: readonly number[], second: readonly number[]): number {
  const squaredErrorOf = (values: readonly number[]) => {
    const mean = meanOf(values);
    return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1) / values.length;
  };
  return (meanOf(first) - meanOf(second)) / Math.sqrt(squaredErrorOf(first) + squaredErrorOf(second));
}
