import assert from "node:assert/strict";
import fc from "fast-check";
import { onEmbedded } from "../../../../test/support/databases.ts";
import { openWorld, type World, type WorldNode } from "../../../../test/support/webhooks/webhook-world.ts";
import type { EventType } from "../../../event-log/index.ts";
import type { Database } from "../../../ports/database.ts";
import type { DeliveryFailure, WebhookAnswer, WebhookRequest } from "../../../ports/webhook-out.ts";

const RETRY_DELAYS_MS = [200, 1_000, 4_000];
const END_STEP_MS = 2_000;
const END_STEPS_MAX = 100;
const TYPES: readonly EventType[] = ["price_shift", "whale_alert"];
const RUNS = 20;

/** How a receiver answers a request, and after which time. */
interface Reaction {
  readonly delayMs: number;
  readonly status: number | DeliveryFailure;
  readonly retryAfterMs: number | null;
}
type Action =
  | { readonly kind: "append"; readonly types: readonly EventType[] }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "disable" | "enable" | "delete"; readonly webhook: number }
  | { readonly kind: "select"; readonly webhook: number; readonly types: readonly EventType[] }
  | { readonly kind: "kill" | "cut off" | "reconnect"; readonly node: number }
  | { readonly kind: "start" };

const types = fc.subarray([...TYPES], { minLength: 1 });
const success: fc.Arbitrary<Reaction> = fc.record({
  delayMs: fc.constantFrom(0, 20, 300, 1_000),
  status: fc.constant(200),
  retryAfterMs: fc.constant(null),
});
const failure: fc.Arbitrary<Reaction> = fc.oneof(
  fc.record({
    delayMs: fc.constantFrom(0, 20, 300),
    status: fc.constantFrom<Reaction["status"]>(301, 404, 500, 503, "connection_failed", "unavailable"),
    retryAfterMs: fc.constant(null),
  }),
  fc.record({ delayMs: fc.constant(0), status: fc.constant(429), retryAfterMs: fc.constantFrom(300, 3_000) }),
  fc.record({ delayMs: fc.constant(1_000), status: fc.constant("timeout" as const), retryAfterMs: fc.constant(null) }),
  fc.record({ delayMs: fc.constant(20), status: fc.constant(410), retryAfterMs: fc.constant(null) }),
);
const reactions = fc.oneof(
  fc.array(success, { minLength: 1, maxLength: 4 }),
  fc.array(fc.oneof(success, failure), { minLength: 1, maxLength: 8 }),
);
const webhook = fc.nat(3);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("append"),
      types: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("wait"), ms: fc.constantFrom(0, 30, 100, 400, 3_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("disable", "enable"), webhook }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete"), webhook }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("select"), webhook, types }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("kill", "cut off", "reconnect"), node: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("start") }) },
);

/** The requests to a receiver, its answers, and the deliveries that are expected of its webhook. */
class Receiver {
  readonly webhookId: string;
  readonly #reactions: readonly Reaction[];
  types: readonly EventType[];
  /** Whether an attempt may begin. */
  isOpen = true;
  isDeleted = false;
  /** Whether it has answered with 410. */
  hasSentGone = false;
  requests = 0;
  /** Whether events may arrive out of order, because of a failure or a change of the types. */
  isUnordered = false;
  /** Time of the last answer with Retry-After. */
  pausedAt = 0;
  pausedUntil = 0;
  /** Whether an attempt had no connection, or a change of webhook or node has ended the delays by Retry-After. */
  mayIgnorePauses = false;
  /** Ids of events that must be delivered if the webhook stays enabled. */
  readonly expected = new Set<number>();
  readonly delivered = new Set<number>();
  /** Ids in the order of their first attempts. */
  readonly order: number[] = [];
  /** Failed attempts of each event, and the time of the last one. */
  readonly failed = new Map<number, { count: number; at: number }>();
  readonly running = new Map<WorldNode, number>();

  constructor(webhookId: string, types: readonly EventType[], reactions: readonly Reaction[]) {
    this.webhookId = webhookId;
    this.types = types;
    this.#reactions = reactions;
  }

  nextReaction(): Reaction {
    return this.#reactions[this.requests++ % this.#reactions.length] as Reaction;
  }
}

/** Performs actions on a world and records which guarantees were violated. */
class Scenario {
  readonly #world: World;
  readonly #database: Database;
  readonly #receivers = new Map<string, Receiver>();
  /** Type of each event, and the receivers that may get it. */
  readonly #events = new Map<number, { readonly type: EventType; readonly receivers: Set<Receiver> }>();
  readonly #bodies = new Map<number, string>();
  readonly #violated = new Set<string>();
  #hasNodeFaults = false;
  #isEnding = false;

  constructor(database: Database, world: World) {
    this.#database = database;
    this.#world = world;
  }

  #demand(isKept: boolean, guarantee: string): void {
    if (!isKept) this.#violated.add(guarantee);
  }

  answer = async ({ url, headers, body }: WebhookRequest, node: WorldNode): Promise<WebhookAnswer> => {
    const { clock } = this.#world;
    const receiver = this.#receivers.get(url) as Receiver;
    const id = Number(JSON.parse(body).id);
    this.#demand(receiver.isOpen, "no attempt begins after a deletion, or while the webhook is disabled");
    this.#demand(this.#events.get(id)?.receivers.has(receiver) === true, "a webhook gets only events of its types");
    this.#demand(headers["webhook-id"] === `evt_${id}`, "the id is the same in all attempts");
    this.#demand(body === (this.#bodies.get(id) ?? body), "the body is the same in all attempts");
    this.#demand(Number(headers["webhook-timestamp"]) === Math.floor(clock.now() / 1_000), "each attempt has its time");
    this.#bodies.set(id, body);
    if (!receiver.order.includes(id)) receiver.order.push(id);
    const running = (receiver.running.get(node) ?? 0) + 1;
    receiver.running.set(node, running);
    this.#demand(running <= 4, "at most four attempts run at the same time");
    this.#checkDelay(receiver, id);
    const { delayMs, status, retryAfterMs } = receiver.nextReaction();
    if (delayMs > 0) await clock.sleep(delayMs);
    receiver.running.set(node, (receiver.running.get(node) ?? 0) - 1);
    return this.#react(receiver, id, { status, retryAfterMs });
  };

  /** Checks delays only without faults of nodes, because a node that takes over may not have stored the last failures. */
  #checkDelay(receiver: Receiver, id: number): void {
    const failed = receiver.failed.get(id);
    if (this.#hasNodeFaults || failed === undefined) return;
    const now = this.#world.clock.now();
    const delayMs = RETRY_DELAYS_MS[failed.count - 1] ?? Number.POSITIVE_INFINITY;
    this.#demand(now >= failed.at + delayMs, "a retry waits for its delay, and none follows the last one");
    // The delay does not apply to an attempt that begins at the time of the answer or that had no connection.
    const isPaused = now > receiver.pausedAt && !receiver.mayIgnorePauses;
    this.#demand(!isPaused || now >= receiver.pausedUntil, "a retry waits for Retry-After");
  }

  #react(receiver: Receiver, id: number, { status, retryAfterMs }: Omit<Reaction, "delayMs">): WebhookAnswer {
    const now = this.#world.clock.now();
    const isAccepted = status === 200 || (status === "unavailable" && this.#isEnding);
    if (isAccepted) receiver.delivered.add(id);
    else receiver.isUnordered = true;
    if (isAccepted) return { kind: "answered", status: 200, retryAt: null, bodyHead: "" };
    if (status === "unavailable") receiver.mayIgnorePauses = true;
    else receiver.failed.set(id, { count: (receiver.failed.get(id)?.count ?? 0) + 1, at: now });
    if (typeof status !== "number") return { kind: "failed", failure: status };
    if (status === 410) receiver.hasSentGone = true;
    const retryAt = retryAfterMs === null ? null : now + retryAfterMs;
    if (retryAt !== null) receiver.pausedAt = now;
    receiver.pausedUntil = Math.max(receiver.pausedUntil, retryAt ?? 0);
    return { kind: "answered", status, retryAt, bodyHead: "" };
  }

  async register(types: readonly EventType[], reactions: readonly Reaction[]): Promise<void> {
    const url = `https://example.org/${this.#receivers.size}`;
    const { webhookId } = await this.#world.register(url, types);
    this.#receivers.set(url, new Receiver(webhookId, types, reactions));
  }

  async perform(action: Action): Promise<void> {
    const world = this.#world;
    const alive = world.nodes.filter(({ state }) => state !== "killed");
    if (action.kind === "append") return this.#append(action.types);
    if (action.kind === "wait") return world.advance(action.ms);
    if (action.kind === "start") {
      // The delay of a receiver's Retry-After is in the memory of one node, so a new node does not apply it. The delay of
      // a retry is stored, so every node applies it.
      for (const receiver of this.#receivers.values()) receiver.mayIgnorePauses = true;
      if (alive.length < 3) world.startNode();
      return;
    }
    if ("webhook" in action) {
      const receiver = [...this.#receivers.values()][action.webhook % this.#receivers.size] as Receiver;
      if (receiver.isDeleted) return;
      return action.kind === "select" ? this.#select(receiver, action.types) : this.#change(receiver, action.kind);
    }
    const node = alive[action.node % Math.max(1, alive.length)];
    if (node === undefined) return;
    this.#hasNodeFaults = true;
    node.state = ({ kill: "killed", "cut off": "cut off", reconnect: "running" } as const)[action.kind];
    if (action.kind !== "reconnect") await world.expire(node);
  }

  async #append(types: readonly EventType[]): Promise<void> {
    let id = (await this.#world.append(types)) - types.length;
    for (const type of types) {
      id += 1;
      const selecting = [...this.#receivers.values()].filter((receiver) => receiver.types.includes(type));
      this.#events.set(id, { type, receivers: new Set(selecting) });
      for (const receiver of selecting) if (receiver.isOpen) receiver.expected.add(id);
    }
  }

  async #change(receiver: Receiver, kind: "disable" | "enable" | "delete"): Promise<void> {
    const { service, customerId, until } = this.#world;
    receiver.mayIgnorePauses = true;
    if (kind === "enable") {
      if (!(await this.#isEnabled(receiver))) receiver.expected.clear();
      receiver.isOpen = true;
      await until(service.change(customerId, receiver.webhookId, { enabled: true }));
      // A 410 may have disabled the webhook just before the change.
      if (receiver.hasSentGone) receiver.expected.clear();
      return;
    }
    receiver.expected.clear();
    if (kind === "disable") await until(service.change(customerId, receiver.webhookId, { enabled: false }));
    else await until(service.remove(customerId, receiver.webhookId));
    receiver.isOpen = false;
    receiver.isDeleted = kind === "delete";
  }

  async #select(receiver: Receiver, types: readonly EventType[]): Promise<void> {
    // Events that were not sent before the change may match either selection. A node that takes over can send an
    // event that was not selected before it.
    receiver.isUnordered = true;
    receiver.mayIgnorePauses = true;
    for (const [id, { type, receivers }] of this.#events) {
      if (types.includes(type)) receivers.add(receiver);
      else receiver.expected.delete(id);
    }
    await this.#world.until(
      this.#world.service.change(this.#world.customerId, receiver.webhookId, { events: [...types] }),
    );
    receiver.types = types;
  }

  async #isEnabled({ webhookId }: Receiver): Promise<boolean> {
    const rows = await this.#database.query("select 1 from webhooks where webhook_id = $1 and enabled", [webhookId]);
    return rows.length > 0;
  }

  /** Ends the faults of nodes, and waits until everything is delivered or given up. Returns the violated guarantees. */
  async end(): Promise<string[]> {
    const { nodes, advance, startNode } = this.#world;
    this.#isEnding = true;
    for (const node of nodes) if (node.state === "cut off") node.state = "running";
    if (nodes.every(({ state }) => state === "killed")) startNode();
    let open = await this.#findOpen();
    for (let index = 0; index < END_STEPS_MAX && open.length > 0; index++) {
      await advance(END_STEP_MS);
      open = await this.#findOpen();
    }
    this.#demand(open.length === 0, `every event is delivered, or all its attempts failed: ${open}`);
    for (const { isUnordered, order } of this.#receivers.values())
      this.#demand(isUnordered || order.every((id, index) => id > (order[index - 1] ?? 0)), "the order is kept");
    return [...this.#violated];
  }

  /** Returns the events of enabled webhooks that are neither delivered nor given up. */
  async #findOpen(): Promise<number[]> {
    const open: number[] = [];
    for (const receiver of this.#receivers.values()) {
      if (!(await this.#isEnabled(receiver))) continue;
      const rows = await this.#database.query<{ id: number; status: string; attempts: number }>(
        "select event_id as id, status, attempts from webhook_deliveries where webhook_id = $1",
        [receiver.webhookId],
      );
      const ended = new Set(receiver.delivered);
      for (const { id, status, attempts } of rows) {
        if (status === "failed" && attempts === RETRY_DELAYS_MS.length + 1) ended.add(id);
        if (status === "retrying") open.push(id);
      }
      for (const id of receiver.expected) if (!ended.has(id)) open.push(id);
    }
    return open;
  }
}

onEmbedded(
  "the delivery guarantees hold while receivers fail, webhooks change and nodes are killed",
  async (database) => {
    const scenarios = fc.record({
      receivers: fc.array(fc.tuple(types, reactions), { minLength: 1, maxLength: 4 }),
      actions: fc.array(action, { minLength: 5, maxLength: 25 }),
    });
    const check = fc.asyncProperty(scenarios, async ({ receivers, actions }) => {
      const world = await openWorld(database, RETRY_DELAYS_MS);
      const scenario = new Scenario(database, world);
      world.state.answer = scenario.answer;
      for (const [selected, reactionsOf] of receivers) await scenario.register(selected, reactionsOf);
      world.startNode();
      for (const each of actions) await scenario.perform(each);
      const violated = await scenario.end();
      await world.close();
      assert.deepEqual(violated, []);
    });
    await fc.assert(check, { numRuns: RUNS, interruptAfterTimeLimit: 60_000 });
  },
);
