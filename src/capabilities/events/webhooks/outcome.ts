import {
  DISABLE_AFTER_MS,
  FAILURE_STREAK_GAP_MS,
  RETRY_AFTER_MS_MAX,
  RETRY_AFTER_PAUSE_MS_MAX,
} from "../../../domain/webhook-limits.ts";
import type { Random } from "../../../ports/random.ts";
import type { WebhookAnswer } from "../../../ports/webhook-out.ts";
import type { Delivery, DeliveryMessage, FailureStreak } from "./model.ts";

/** Maximum random extension of a delay, as a share. It spreads the retries of deliveries that failed together. */
const JITTER = 0.1;
const GONE = 410;

export interface AttemptOutcome {
  readonly delivery: Delivery;
  readonly streak: FailureStreak;
  readonly disables: boolean;
  /** End of the pause requested by the receiver, Unix milliseconds, at most an hour away; null without a request. */
  readonly pausedUntil: number | null;
}

export const isDelivered = (answer: WebhookAnswer): boolean =>
  answer.kind === "answered" && answer.status >= 200 && answer.status < 300;

/** Returns the states of delivery and webhook after an attempt. `startedAt` and `endedAt` are Unix milliseconds. */
export function classifyAttempt(
  message: DeliveryMessage,
  answer: WebhookAnswer,
  {
    startedAt,
    endedAt,
    latencyMs,
  }: { readonly startedAt: number; readonly endedAt: number; readonly latencyMs: number },
  streak: FailureStreak,
  { retryDelaysMs, random }: { readonly retryDelaysMs: readonly number[]; readonly random: Random },
): AttemptOutcome {
  const attempts = message.attempts + 1;
  const delivery = {
    eventId: message.eventId,
    eventType: message.eventType,
    attempts,
    firstAttemptAt: message.firstAttemptAt ?? startedAt,
    lastAttemptAt: startedAt,
    latencyMs: Math.round(latencyMs),
    responseStatus: answer.kind === "answered" ? answer.status : null,
    responseHead: answer.kind === "answered" ? answer.bodyHead : null,
    failure: answer.kind === "failed" ? answer.failure : null,
  };
  if (isDelivered(answer))
    return {
      delivery: { ...delivery, status: "delivered", nextAttemptAt: null },
      streak: { count: 0, since: null, lastAt: null },
      disables: false,
      pausedUntil: null,
    };
  const next = addFailure(streak, endedAt);
  const isGone = answer.kind === "answered" && answer.status === GONE;
  const disables = isGone || endedAt - (next.since ?? endedAt) >= DISABLE_AFTER_MS;
  const delayMs = retryDelaysMs[attempts - 1];
  const isLast = disables || delayMs === undefined;
  const retryAt = answer.kind === "answered" ? answer.retryAt : null;
  const dueAt = endedAt + (delayMs ?? 0) * (1 + JITTER * random.uniform());
  return {
    delivery: isLast
      ? { ...delivery, status: "failed", nextAttemptAt: null }
      : {
          ...delivery,
          status: "retrying",
          nextAttemptAt: Math.max(dueAt, Math.min(retryAt ?? 0, endedAt + RETRY_AFTER_MS_MAX)),
        },
    streak: next,
    disables,
    pausedUntil: retryAt === null ? null : Math.min(retryAt, endedAt + RETRY_AFTER_PAUSE_MS_MAX),
  };
}

function addFailure({ count, since, lastAt }: FailureStreak, at: number): FailureStreak {
  const isContinued = since !== null && lastAt !== null && at - lastAt <= FAILURE_STREAK_GAP_MS;
  return { count: count + 1, since: isContinued ? since : at, lastAt: at };
}
