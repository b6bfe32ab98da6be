import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { pageHtml, sampleArticle, seededUniform } from "../../../../test/support/research/sample-web.ts";
import { type Script, startScriptedServer } from "../../../../test/support/research/scripted-server.ts";
import { researchPages } from "../../../../test/support/research/twins.ts";
import { createLanguageModel } from "../../../adapters/language-model/language-model.ts";

let script: Script = "good";
const clock = new FakeClock();
/** Pauses between attempts end immediately. Time advances only while a server does not respond. */
const impatient = Object.assign(clock, { sleep: async () => {} });
let advanced: Promise<void> | null = null;
const server = await startScriptedServer(() => {
  if (script === "silent") advanced = clock.advance(100_000);
  return script;
});
after(() => server.close());

const pages = new Map(
  [1, 2, 3].map((seed) => [`https://paper${seed}.example/`, pageHtml(sampleArticle(seededUniform(seed), 1))]),
);
const model = createLanguageModel({
  provider: "compatible",
  model: "local",
  baseUrl: `${server.origin}/v1`,
  apiKey: "key",
  price: { input: 1, output: 5 },
});

async function researchWith(next: Script) {
  script = next;
  const { outcome } = await researchPages(pages, { model, clock: impatient });
  await advanced;
  return outcome;
}

test("after every kind of invalid response of a model server, the run ends with its reason as a sentence", async () => {
  const good = await researchWith("good");
  assert.deepEqual([good.reason, good.research?.trials, good.sourceCount], [null, 5, 3]);
  const expected: readonly [Script, string][] = [
    ["nonsense", "invalid_answers"],
    ["wrong_schema", "invalid_answers"],
    ["refusing", "invalid_answers"],
    ["not_protocol", "model_failed"],
    ["endless", "model_failed"],
    ["failing", "model_failed"],
    ["silent", "deadline"],
  ];
  for (const [bad, code] of expected) {
    const { research, reason, reasonText, sourceCount } = await researchWith(bad);
    assert.deepEqual([bad, research, reason, sourceCount], [bad, null, code, 0]);
    assert.match(reasonText ?? "", /^The language model .*, so there is no research\.$/);
  }
});

test("if a model is always certain and cites invented sources, the research contains no evidence", async () => {
  const { research, transcript } = await researchWith("hostile");
  assert.deepEqual(research?.evidence, []);
  assert.ok(transcript.trials.every(({ readings }) => readings.every(({ belief }) => belief.evidence.length === 0)));
  assert.ok(research !== null && research.probability <= 0.99);
});
