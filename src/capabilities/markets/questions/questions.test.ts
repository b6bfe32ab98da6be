import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { openShadowBook, sampleEntry } from "../../../../test/support/trading/shadow-book-harness.ts";
import type { BoardMarket } from "../../../board/index.ts";
import { createQuestionLinker, QuestionIndex, readQuestions } from "./index.ts";

const idOf = (node: string) => {
  const [venue = "", marketId = ""] = node.slice("market:".length).split("/");
  return { venue, marketId };
};

test("markets share a question if and only if links connect them, in any order of the links", () => {
  const nodes = ["a/1", "a/2", "b/1", "b/2", "c/1", "c/2"].map((id) => `market:${id}`);
  const link = fc.record({ node: fc.constantFrom(...nodes), linkedNode: fc.constantFrom(...nodes) });
  fc.assert(
    fc.property(fc.array(link, { maxLength: 8 }), (links) => {
      const questions = new QuestionIndex();
      for (const each of links) questions.add(each);
      const reversed = new QuestionIndex();
      for (const each of links.toReversed()) reversed.add(each);
      const reachable = (from: string) => {
        const found = new Set([from]);
        for (const _ of nodes)
          for (const { node, linkedNode } of links)
            if (found.has(node) || found.has(linkedNode)) found.add(node).add(linkedNode);
        return found;
      };
      for (const a of nodes)
        for (const b of nodes) {
          const isSame = questions.questionOf(idOf(a)) === questions.questionOf(idOf(b));
          assert.equal(isSame, reachable(a).has(b));
          assert.equal(reversed.questionOf(idOf(a)), questions.questionOf(idOf(a)));
        }
    }),
  );
});

eachDatabase(
  "analysed markets are linked by event, matched market and matched event, and links remain after markets are removed",
  async (database) => {
    const { board, clock } = openShadowBook(database);
    const markets = [
      ["alpha", "m1", "E1"],
      ["alpha", "m2", "E1"],
      ["beta", "n1", "E2"],
      ["beta", "n2", "E2"],
      ["beta", "o", "E3"],
      ["alpha", "p", "E4"],
      ["alpha", "q", null],
      ["beta", "r", null],
    ] as const;
    for (const [venue, marketId, eventId] of markets)
      board.restore(sampleMarket(marketId, { listing: { venue, eventId } }), 1);
    const analysed = ["m1", "m2", "n2", "o", "p", "q", "r"];
    for (const [venue, marketId] of markets.filter(([, id]) => analysed.includes(id)))
      await database.query("insert into latest_analyses values ($1, $2, $3, 0.5, now())", [venue, marketId, marketId]);
    const find = (venue: string, marketId: string) => board.find(venue, marketId) as BoardMarket;
    const equals: Record<string, BoardMarket> = { m1: find("beta", "n1"), q: find("beta", "r") };
    const linker = createQuestionLinker({
      database,
      board,
      clock,
      log: quietLog,
      matching: {
        equalMarketsOf: ({ listing: { marketId } }) => {
          const market = equals[marketId];
          return market === undefined ? [] : [{ market, isInverse: false, isPlayMoney: false, confidence: 0.97 }];
        },
        eventPairsOf: (slug) =>
          slug === "beta:e3" ? [{ a: "alpha:e4", b: "beta:e3", confidence: 0.95, legCount: 0, evidence: [] }] : [],
      },
    });
    await linker.run();
    await linker.run();
    for (const [venue, marketId] of markets) {
      const market = board.find(venue, marketId);
      if (market !== null) board.remove(market);
    }
    await linker.run();
    const questions = await readQuestions(database);
    const questionOf = (marketId: string) => {
      const venue = markets.find(([, id]) => id === marketId)?.[0] ?? "";
      return questions.questionOf({ venue, marketId });
    };
    // m1 and n1 are matched, and n1 and n2 share an event, although n1 was not analysed.
    assert.equal(new Set(["m1", "m2", "n2"].map(questionOf)).size, 1);
    assert.equal(questionOf("o"), questionOf("p"));
    assert.equal(questionOf("q"), questionOf("r"));
    assert.equal(new Set(["m1", "o", "q"].map(questionOf)).size, 3);
    assert.equal(
      questions.count([
        { venue: "alpha", marketId: "m1" },
        { venue: "beta", marketId: "n2" },
        { venue: "alpha", marketId: "unknown" },
      ]),
      2,
    );
  },
);

eachDatabase("a settled market is linked with its event, even if no node linked it before", async (database) => {
  const { open, book, settle } = openShadowBook(database);
  for (const marketId of ["m", "n"]) {
    await open(marketId, { listing: { eventId: "Event" } });
    await book.enter(sampleEntry({ analysisId: `plx-${marketId}`, marketId }));
    await settle({ kind: "yes" }, marketId, { eventId: "Event" });
  }
  await book.run();
  const questions = await readQuestions(database);
  assert.equal(
    questions.questionOf({ venue: "alpha", marketId: "m" }),
    questions.questionOf({ venue: "alpha", marketId: "n" }),
  );
});
