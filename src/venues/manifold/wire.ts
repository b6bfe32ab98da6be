/**
 * Schemas of the parts of Manifold's responses that the adapter reads, annotated with Manifold's documentation.
 * Personal data (names, user ids) is not read.
 */
import Type, { type Static } from "typebox";
import { driftDetectorsFor } from "../shared/schema-drift.ts";
import { always, compileCheck, enumeration, optional, unused, usually } from "../shared/wire-schema.ts";

const Id = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });
const Probability = Type.Number({ documented: { type: "price" } });

/** LiteMarket (in lists) or FullMarket (one market). Only FullMarket has pools of answers, rules and topics. */
export const ContractWire = Type.Object(
  {
    id: Id,
    question: Type.String({ minLength: 1 }),
    outcomeType: enumeration(`
    BINARY MULTIPLE_CHOICE PSEUDO_NUMERIC NUMBER MULTI_NUMERIC DATE POLL BOUNTIED_QUESTION STONK PERP CERT
    QUADRATIC_FUNDING FREE_RESPONSE NUMERIC
  `),
    /** `cpmm-1` with one pool, `cpmm-multi-1` with one pool per answer; `dpm-2` until 2023. */
    mechanism: optional(Type.String()),
    isResolved: Type.Boolean(),
    createdTime: always(Type.Number()),
    closeTime: optional(Type.Number()),
    /** Time of the last bet or edit. */
    lastUpdatedTime: optional(Type.Number()),
    url: usually(Type.String()),
    /** Present for BINARY contracts; contracts with several answers have one per answer. */
    probability: optional(Probability),
    /**
     * YES, NO, MKT or CANCEL. If the answers are mutually exclusive: the id of the winning answer, CHOOSE_MULTIPLE or
     * CANCEL. If they are independent and all resolved: MKT or CANCEL.
     */
    resolution: optional(Type.String()),
    resolutionTime: optional(Type.Number()),
    /** The payout of a MKT resolution; otherwise the last market probability. */
    resolutionProbability: optional(Probability),
    /**
     * Shares by answer id if several answers were chosen, on any positive scale. Only responses of 2022 and broadcasts
     * include them.
     */
    resolutions: optional(Type.Record(Type.String(), Type.Number())),
    answers: optional(Type.Array(Type.Unknown())),
    shouldAnswersSumToOne: optional(Type.Boolean()),
    textDescription: optional(Type.String()),
    groupSlugs: optional(Type.Array(Type.String())),
    /** MANA, or CASH in sweepstakes. */
    token: optional(Type.String()),
  },
  unused(`
    creatorId creatorUsername creatorName creatorAvatarUrl slug pool p totalLiquidity volume volume24Hours
    uniqueBettorCount lastBetTime lastCommentTime siblingContractId value min max isLogScale
    resolverId marketTier description coverImageUrl addAnswersMode options totalBounty bountyLeft loverUserId1
    loverUserId2 matchCreatorId isLove unit midpoints timezone sportsStartTimestamp sportsEventId sportsLeague
  `),
);
export type ContractWire = Static<typeof ContractWire>;

/** One answer: a choice, or a bucket of a number or date. Lists include only id, text and probability. */
export const AnswerWire = Type.Object(
  {
    id: Id,
    text: Type.String({ minLength: 1 }),
    probability: always(Probability),
    createdTime: optional(Type.Number()),
    /** YES, NO, MKT or CANCEL of an independent answer. Mutually exclusive answers have none. */
    resolution: optional(Type.String()),
    resolutionTime: optional(Type.Number()),
    /** The payout of a MKT resolution; otherwise the probability before the resolution. */
    resolutionProbability: optional(Probability),
  },
  unused(`
    contractId index pool p totalLiquidity volume isOther probChanges userId prob subsidyPool resolverId imageUrl
    shortText color midpoint volume24Hours
  `),
);
export type AnswerWire = Static<typeof AnswerWire>;

export const BetWire = Type.Object(
  {
    id: Id,
    contractId: Id,
    answerId: optional(Id),
    createdTime: Type.Number(),
    /** Mana paid; negative for a sale. */
    amount: Type.Number(),
    outcome: enumeration("YES NO"),
    /** Negative for a sale. */
    shares: Type.Number(),
    probBefore: optional(Probability),
    probAfter: Probability,
    /**
     * True if the row is not a bet: equal YES and NO shares were converted to mana, or (with zero shares) a bet on
     * another answer changed the probability of this one.
     */
    isRedemption: optional(Type.Boolean()),
    isRebalance: optional(Type.Boolean()),
    limitProb: optional(Probability),
    fills: optional(
      Type.Array(
        Type.Object({
          amount: Type.Number(),
          shares: Type.Number(),
          timestamp: Type.Number(),
          /** Null if the fill was against the pool. */
          matchedBetId: optional(Type.String()),
          isSale: optional(Type.Boolean()),
        }),
      ),
    ),
  },
  unused(`
    userId updatedTime fees isApi betGroupId orderAmount isFilled isCancelled expiresAt loanAmount isAnte
    isChallenge visibility silent replyToCommentId userUsername userName userAvatarUrl data commentCount isSold sale
    dpmWeight
  `),
);
export type BetWire = Static<typeof BetWire>;

/** A point of the price history: the probabilities of one bet. */
const BetPointWire = Type.Object(
  {
    createdTime: Type.Number(),
    answerId: optional(Type.String()),
    probBefore: optional(Probability),
    probAfter: Probability,
  },
  unused(`
    id userId contractId amount shares outcome isRedemption isRebalance fills updatedTime fees isApi betGroupId
    orderAmount limitProb isFilled isCancelled expiresAt x y loanAmount visibility silent replyToCommentId
  `),
);

/** The current probabilities of a contract: a single one, or one per answer id. */
const ProbabilitiesWire = Type.Object({
  prob: optional(Probability),
  answerProbs: optional(Type.Record(Type.String(), Type.Number())),
});

/** The broadcast of a new contract, in the venue's internal format: no `url`, and `prob` instead of `probability`. */
const NewContractWire = Type.Object(
  {
    id: Id,
    question: Type.String({ minLength: 1 }),
    outcomeType: ContractWire.properties.outcomeType,
    answers: optional(Type.Array(Type.Unknown())),
  },
  unused(`
    slug creatorId creatorUsername creatorName creatorAvatarUrl creatorCreatedTime description visibility mechanism
    createdTime closeTime lastUpdatedTime lastBetTime lastCommentTime isResolved resolution resolutionTime
    resolutionProbability resolutions resolverId pool p prob probChanges
    initialProbability volume volume24Hours elasticity collectedFees totalLiquidity subsidyPool uniqueBettorCount
    uniqueBettorCountDay dailyScore popularityScore importanceScore freshnessScore conversionScore viewCount boosted
    token siblingContractId shouldAnswersSumToOne addAnswersMode sort unit timezone min max isLogScale options
    voterVisibility pollType maxSelections totalBounty bountyLeft isAutoBounty groupSlugs coverImageUrl isRanked
    gptCommentSummary marketTier takerAPIOrdersDisabled isSubsidized isPolitics deleted isLove loverUserId1
    loverUserId2 matchCreatorId sportsStartTimestamp sportsEventId sportsLeague
  `),
);
export type NewContractWire = Static<typeof NewContractWire>;

/** The documented fields of both kinds of socket message. */
const AnySocketMessage = Type.Object({
  type: enumeration("ack broadcast"),
  txid: optional(Type.Number()),
  success: optional(Type.Boolean()),
  error: optional(Type.String()),
  topic: optional(Type.String()),
  data: optional(Type.Record(Type.String(), Type.Unknown())),
});

export const isContract = compileCheck(ContractWire);
export const isAnswer = compileCheck(AnswerWire);
export const isBet = compileCheck(BetWire);
export const isBetPoint = compileCheck(BetPointWire);
export const isProbabilities = compileCheck(ProbabilitiesWire);
export const isNewContract = compileCheck(NewContractWire);
export const isSocketMessage = compileCheck(
  Type.Union([
    Type.Object({
      type: Type.Literal("ack"),
      txid: optional(Type.Number()),
      success: Type.Boolean(),
      error: optional(Type.String()),
    }),
    Type.Object({
      type: Type.Literal("broadcast"),
      topic: Type.String(),
      data: Type.Record(Type.String(), Type.Unknown()),
    }),
  ]),
);

export const createManifoldDriftDetectors = driftDetectorsFor({
  contract: ContractWire,
  answer: AnswerWire,
  bet: BetWire,
  bet_point: BetPointWire,
  probabilities: ProbabilitiesWire,
  new_contract: NewContractWire,
  stream: AnySocketMessage,
});
export type ManifoldDriftDetectors = ReturnType<typeof createManifoldDriftDetectors>;

/** Types whose answers are yes-or-no questions: choices, or buckets and thresholds of a number or date. */
const ANSWER_TYPES: ReadonlySet<string> = new Set(["MULTIPLE_CHOICE", "NUMBER", "MULTI_NUMERIC", "DATE"]);

export function hasBinaryAnswers<Contract extends Pick<ContractWire, "outcomeType" | "answers">>(
  contract: Contract,
): contract is Contract & { readonly answers: readonly unknown[] } {
  return ANSWER_TYPES.has(contract.outcomeType) && Array.isArray(contract.answers);
}
