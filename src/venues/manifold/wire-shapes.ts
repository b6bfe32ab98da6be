import type { DriftCounter } from "../../ports/venue.ts";
import { type WireShape, type WireWatches, watchWire } from "../shared/schema-drift.ts";

/** All that Manifold documents of what we read, so that what it changes without a word is noticed. */
const SHAPES = {
  /** LiteMarket and FullMarket in one. */
  contract: {
    needed: { id: "text", question: "text", outcomeType: "text", isResolved: "flag", createdTime: "number" },
    usual: { url: "text" },
    read: {
      closeTime: "number",
      probability: "price",
      resolution: "text",
      resolutionTime: "number",
      resolutionProbability: "price",
      resolutions: "object",
      answers: "list",
      shouldAnswersSumToOne: "flag",
      textDescription: "text",
      groupSlugs: "list",
    },
    words: {
      outcomeType: [
        ...["BINARY", "MULTIPLE_CHOICE", "PSEUDO_NUMERIC", "NUMBER", "MULTI_NUMERIC", "DATE", "POLL"],
        ...["BOUNTIED_QUESTION", "STONK", "PERP", "CERT", "QUADRATIC_FUNDING", "FREE_RESPONSE", "NUMERIC"],
      ],
    },
    unread: [
      ...["creatorId", "creatorUsername", "creatorName", "creatorAvatarUrl", "slug", "mechanism", "pool", "p"],
      ...["totalLiquidity", "volume", "volume24Hours", "uniqueBettorCount", "lastUpdatedTime", "lastBetTime"],
      ...["lastCommentTime", "token", "siblingContractId", "value", "min", "max", "isLogScale", "resolverId"],
      ...["marketTier", "description", "coverImageUrl", "addAnswersMode", "options", "totalBounty", "bountyLeft"],
      ...["loverUserId1", "loverUserId2", "matchCreatorId", "isLove", "unit", "midpoints", "timezone"],
    ],
  },
  answer: {
    needed: { id: "text", text: "text", probability: "price" },
    read: {
      createdTime: "number",
      resolution: "text",
      resolutionTime: "number",
      resolutionProbability: "price",
    },
    unread: [
      ...["contractId", "index", "pool", "totalLiquidity", "volume", "isOther", "probChanges", "userId", "prob"],
      ...["subsidyPool", "resolverId", "imageUrl", "shortText", "color", "midpoint", "volume24Hours"],
    ],
  },
  bet: {
    needed: {
      id: "text",
      contractId: "text",
      createdTime: "number",
      amount: "number",
      outcome: "text",
      shares: "number",
      probAfter: "price",
    },
    read: { answerId: "text", isRedemption: "flag", isRebalance: "flag", limitProb: "price", fills: "list" },
    words: { outcome: ["YES", "NO"] },
    unread: [
      ...["userId", "updatedTime", "probBefore", "fees", "isApi", "betGroupId", "orderAmount", "isFilled"],
      ...[
        "isCancelled",
        "expiresAt",
        "loanAmount",
        "isAnte",
        "isChallenge",
        "visibility",
        "silent",
        "replyToCommentId",
      ],
      ...["userUsername", "userName", "userAvatarUrl", "data", "commentCount", "isSold", "sale", "dpmWeight"],
    ],
  },
  bet_point: {
    needed: { createdTime: "number", probAfter: "price" },
    read: { answerId: "text", probBefore: "price" },
    unread: [
      ...["id", "userId", "contractId", "amount", "shares", "outcome", "isRedemption", "isRebalance", "fills"],
      ...["updatedTime", "fees", "isApi", "betGroupId", "orderAmount", "limitProb", "isFilled", "isCancelled"],
      ...["expiresAt", "x", "y", "loanAmount", "visibility", "silent", "replyToCommentId"],
    ],
  },
  stream: {
    needed: { type: "text" },
    read: { txid: "number", success: "flag", error: "text", topic: "text", data: "object" },
    words: { type: ["ack", "broadcast"] },
  },
} as const satisfies Readonly<Record<string, WireShape>>;

export type ManifoldWatches = WireWatches<typeof SHAPES>;

export const watchManifold = (drift: DriftCounter): ManifoldWatches => watchWire(SHAPES, drift);
