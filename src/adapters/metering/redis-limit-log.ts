import { Redis } from "ioredis";
import type { LimitDecision } from "../../domain/metering.ts";
import type { SharedLimitLog } from "../../ports/limit-log.ts";

/** Timeout of a call. If a call rejects, the rate limiter uses its local limit. */
const RESPONSE_MS_MAX = 100;
/** Number of consecutive timers that form the timeout. A blocked event loop uses up only one of them. */
const RESPONSE_PARTS = 4;
/** Timeout of the commands that ioredis itself sends when it connects. */
const COMMAND_MS_MAX = 5_000;
/** Maximum pause before a reconnect. Nodes share their limits again within two seconds after Redis is back. */
const RECONNECT_MS_MAX = 500;

/**
 * Stores one list per caller: the timestamps of the requests accepted in the window, in microseconds of the server's
 * clock, newest first. Expired entries are removed first, so a list is never longer than the limit, and a list expires
 * one window after its last request. If the server's clock steps back, the newest timestamp is used instead; if it
 * steps back by a window or more, the list is deleted, so that the caller is not locked out.
 */
const TAKE_SCRIPT = `
local window, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local newest = redis.call('LINDEX', KEYS[1], 0)
if newest and tonumber(newest) >= now + window then
  redis.call('DEL', KEYS[1])
elseif newest then
  now = math.max(now, tonumber(newest))
end
local oldest = redis.call('LINDEX', KEYS[1], -1)
while oldest and tonumber(oldest) <= now - window do
  redis.call('RPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], -1)
end
local count = redis.call('LLEN', KEYS[1])
local isPeek = ARGV[3] == '1'
if isPeek and count < limit then
  return {1, limit - count, tonumber(oldest or now - window) + window - now}
end
if count >= limit then
  return {0, 0, tonumber(redis.call('LINDEX', KEYS[1], limit - 1)) + window - now}
end
redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
return {1, limit - count - 1, tonumber(oldest or now) + window - now}
`;

interface LimitingRedis extends Redis {
  takeRequest(key: string, windowMicroseconds: number, limit: number, isPeek: 0 | 1): Promise<[number, number, number]>;
}

/**
 * Opens a request counter in Redis or Valkey that all nodes share. Connects and reconnects in the background; while
 * disconnected, every call rejects immediately.
 *
 * @param options.prefix       prefix of the keys, equal for all nodes that share their limits
 * @param options.answerMsMax  timeout of a call in milliseconds, excluding time in which the event loop is blocked
 */
export function openRedisLimitLog(options: {
  readonly url: string;
  readonly windowMs: number;
  readonly prefix?: string;
  readonly answerMsMax?: number;
}): SharedLimitLog {
  const { url, windowMs, prefix = "parallax:", answerMsMax = RESPONSE_MS_MAX } = options;
  const redis = new Redis(url, {
    connectionName: `${prefix}limits`,
    keyPrefix: `${prefix}limit:`,
    commandTimeout: Math.max(COMMAND_MS_MAX, answerMsMax),
    retryStrategy: (attempt) => Math.min(RECONNECT_MS_MAX, 2 ** Math.min(attempt, 16)),
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    protocol: 2,
  });
  redis.defineCommand("takeRequest", { lua: TAKE_SCRIPT, numberOfKeys: 1 });
  // The errors are ignored here, because calls reject with them.
  redis.on("error", () => {});
  const limitingRedis = redis as LimitingRedis;
  const run = async (caller: string, limit: number, isPeek: 0 | 1): Promise<LimitDecision> => {
    const window = windowMs * 1_000;
    const response = limitingRedis.takeRequest(caller, window, limit, isPeek);
    const [isAllowed, remaining, wait] = await rejectLate(response, answerMsMax);
    return { isAllowed: isAllowed === 1, remaining, waitMs: wait / 1_000 };
  };
  return {
    take: (caller, limit) => run(caller, limit, 0),
    peek: (caller, limit) => run(caller, limit, 1),
    close: () => redis.disconnect(),
  };
}

/**
 * Settles like `response`, or rejects after a timeout. A response that arrives while the event loop is blocked is not
 * late: the timeout has several timers, and the event loop reads responses between them and after the last one.
 */
function rejectLate<Value>(response: Promise<Value>, timeoutMs: number): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  let cancel = () => {};
  const wait = (parts: number): void => {
    if (parts > 0) {
      const timer = setTimeout(() => wait(parts - 1), timeoutMs / RESPONSE_PARTS);
      cancel = () => clearTimeout(timer);
      return;
    }
    const immediate = setImmediate(() => reject(new Error(`Redis did not respond within ${timeoutMs} ms`)));
    cancel = () => clearImmediate(immediate);
  };
  wait(RESPONSE_PARTS);
  response.then(resolve, reject).finally(() => cancel());
  return promise;
}
