import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";

/**
 * What we read of Manifold's answers, and nothing else: personal data (names, user ids) is not even looked at. Fields
 * that the venue leaves out at times are optional; unknown fields are ignored.
 */
const Id = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });
const maybe = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

/** LiteMarket (lists) and FullMarket (one market): the second has the answers' pools, the rules and the topics. */
export const ContractWire = Type.Object({
  id: Id,
  question: Type.String({ minLength: 1 }),
  outcomeType: Type.String(),
  isResolved: Type.Boolean(),
  createdTime: maybe(Type.Number()),
  closeTime: maybe(Type.Number()),
  url: maybe(Type.String()),
  /** Only where one number says it all (BINARY); multi-answer contracts have it per answer. */
  probability: maybe(Type.Number()),
  /** YES, NO, MKT, CANCEL; for answers that exclude each other the winner's id, or CHOOSE_MULTIPLE. */
  resolution: maybe(Type.String()),
  resolutionTime: maybe(Type.Number()),
  /** The payout of a MKT resolution; otherwise only what the market thought before. */
  resolutionProbability: maybe(Type.Number()),
  /** Shares by answer id when several were chosen; any positive scale. */
  resolutions: maybe(Type.Record(Type.String(), Type.Number())),
  answers: maybe(Type.Array(Type.Unknown())),
  shouldAnswersSumToOne: maybe(Type.Boolean()),
  textDescription: maybe(Type.String()),
  groupSlugs: maybe(Type.Array(Type.String())),
});
export type ContractWire = Static<typeof ContractWire>;

/** One answer; lists send only id, text and probability. */
export const AnswerWire = Type.Object({
  id: Id,
  text: Type.String({ minLength: 1 }),
  probability: maybe(Type.Number()),
  createdTime: maybe(Type.Number()),
  resolution: maybe(Type.String()),
  resolutionTime: maybe(Type.Number()),
  resolutionProbability: maybe(Type.Number()),
});
export type AnswerWire = Static<typeof AnswerWire>;

export const BetWire = Type.Object({
  id: Id,
  contractId: Id,
  answerId: maybe(Id),
  createdTime: Type.Number(),
  /** Mana paid; negative when shares were sold. */
  amount: Type.Number(),
  outcome: Type.String(),
  /** Negative when sold. */
  shares: Type.Number(),
  probAfter: Type.Number(),
  isRedemption: maybe(Type.Boolean()),
  isRebalance: maybe(Type.Boolean()),
  limitProb: maybe(Type.Number()),
  fills: maybe(
    Type.Array(
      Type.Object({
        amount: Type.Number(),
        shares: Type.Number(),
        timestamp: Type.Number(),
      }),
    ),
  ),
});
export type BetWire = Static<typeof BetWire>;

/** A point of the price's past: a bet cut down to its probabilities. */
export const BetPointWire = Type.Object({
  createdTime: Type.Number(),
  answerId: maybe(Type.String()),
  probBefore: maybe(Type.Number()),
  probAfter: Type.Number(),
});
export type BetPointWire = Static<typeof BetPointWire>;

export const SocketMessageWire = Type.Union([
  Type.Object({
    type: Type.Literal("ack"),
    txid: maybe(Type.Number()),
    success: Type.Boolean(),
    error: maybe(Type.String()),
  }),
  Type.Object({
    type: Type.Literal("broadcast"),
    topic: Type.String(),
    data: Type.Record(Type.String(), Type.Unknown()),
  }),
]);
export type SocketMessageWire = Static<typeof SocketMessageWire>;

const contract = Compile(ContractWire);
const answer = Compile(AnswerWire);
const bet = Compile(BetWire);
const betPoint = Compile(BetPointWire);
const socketMessage = Compile(SocketMessageWire);

export const isContract = (value: unknown): value is ContractWire => contract.Check(value);
export const isAnswer = (value: unknown): value is AnswerWire => answer.Check(value);
export const isBet = (value: unknown): value is BetWire => bet.Check(value);
export const isBetPoint = (value: unknown): value is BetPointWire => betPoint.Check(value);
export const isSocketMessage = (value: unknown): value is SocketMessageWire => socketMessage.Check(value);
