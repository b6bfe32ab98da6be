/** Invented recordings of Manifold. */
import type { JsonObject } from "../json.ts";
import { NOW, type SampleRecording, sample } from "./sample.ts";

const contract = (id: string, changes: JsonObject = {}): JsonObject => ({
  id,
  question: `Question of ${id}?`,
  outcomeType: "BINARY",
  mechanism: "cpmm-1",
  createdTime: NOW - 86_400_000,
  closeTime: NOW + 86_400_000,
  isResolved: false,
  probability: 0.123456789,
  url: `https://manifold.markets/someone/${id}`,
  volume: 500,
  ...changes,
});
const answers = [
  { id: "a1", text: "First", probability: 0.25 },
  { id: "a2", text: "Second", probability: 0.75 },
];
const bet = (id: string, changes: JsonObject = {}): JsonObject => ({
  id,
  contractId: "c1",
  createdTime: NOW - 7_000,
  amount: 25,
  outcome: "YES",
  shares: 50,
  probBefore: 0.48,
  probAfter: 0.52,
  isRedemption: false,
  ...changes,
});

export const MANIFOLD_SAMPLES: readonly SampleRecording[] = [
  sample("manifold-list.json", "manifold", "GET /search-markets?filter=all", [
    contract("c1"),
    contract("c2", { outcomeType: "MULTIPLE_CHOICE", probability: undefined, shouldAnswersSumToOne: true, answers }),
    contract("c3", { outcomeType: "POLL", probability: undefined }),
    contract("c4", { isResolved: true, resolution: "MKT", resolutionProbability: 0.3, resolutionTime: NOW - 1_000 }),
  ]),
  sample("manifold-bets.json", "manifold", "GET /bets?contractId=", [
    bet("b1"),
    bet("b2", {
      createdTime: NOW - 3_600_000,
      amount: -10,
      shares: -20,
      outcome: "NO",
      probBefore: 0.5,
      probAfter: 0.55,
    }),
    bet("b3", {
      createdTime: NOW - 7_200_000,
      amount: 0,
      shares: 0,
      limitProb: 0.4,
      fills: [],
      probBefore: 0.5,
      probAfter: 0.5,
    }),
    bet("b4", {
      createdTime: NOW - 10_800_000,
      amount: -4,
      shares: -4,
      isRedemption: true,
      probBefore: 0.5,
      probAfter: 0.5,
    }),
  ]),
  sample("manifold-frames.json", "manifold", "wss://api.manifold.markets/ws", [
    { type: "ack", txid: 1, success: true },
    { type: "broadcast", topic: "global/new-bet", data: { bets: [bet("b5", { createdTime: NOW })] } },
    {
      type: "broadcast",
      topic: "global/updated-contract",
      data: { contract: { id: "c1", isResolved: true, resolution: "YES" } },
    },
    { type: "broadcast", topic: "global/new-contract", data: { contract: contract("c9") } },
    { type: "broadcast", topic: "contract/c1/new-bet", data: { bets: [bet("b5", { createdTime: NOW })] } },
  ]),
];
