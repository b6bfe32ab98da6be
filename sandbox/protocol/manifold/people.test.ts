import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { createWorld } from "../../world/index.ts";
import { manifoldExchange } from "./index.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 5 * 3_600_000;
const world = createWorld({ seed: 3, genesis: GENESIS, speed: 20, marketCount: 300 });

interface User {
  readonly id: string;
  readonly username: string;
  readonly createdTime: number;
}
interface Row extends User {
  readonly creatorId: string;
  readonly creatorUsername: string;
  readonly creatorName: string;
  readonly contractId: string;
  readonly userId: string;
  readonly answers: readonly { readonly id: string }[];
  readonly groupSlugs: readonly string[];
}

let app: FastifyInstance;
before(() => {
  app = Fastify();
  const feed = { subscribe: () => () => {}, close() {} };
  manifoldExchange({ world, feed, now: () => NOW, enforceLimits: false })[0]?.install(app);
});
after(() => app.close());

async function ask(path: string): Promise<{ status: number; json: never }> {
  const { statusCode, ...reply } = await app.inject({ url: `/v0${path}` });
  return { status: statusCode, json: reply.json() as never };
}
async function get(path: string): Promise<never> {
  const { status, json } = await ask(path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(json)}`);
  return json;
}
const aMarket = async (): Promise<Row> => {
  const [row] = (await get("/markets?limit=1")) as Row[];
  assert.ok(row !== undefined);
  return row;
};

test("whoever asked a question is found by name and by id, and by them all their questions", async () => {
  const market = await aMarket();
  const user: User & { name: string } = await get(`/user/${market.creatorUsername}`);
  assert.deepEqual([user.id, user.name], [market.creatorId, market.creatorName]);
  assert.deepEqual(await get(`/user/by-id/${market.creatorId}`), user);
  const lite = Object(await get(`/user/${market.creatorUsername}/lite`));
  assert.deepEqual([lite.id, lite.username], [user.id, user.username]);
  const own: Row[] = await get(`/markets?userId=${user.id}`);
  const all: Row[] = await get("/markets?limit=1000");
  assert.deepEqual(
    own.map(({ id }) => id),
    all.filter(({ creatorId }) => creatorId === user.id).map(({ id }) => id),
  );
  assert.ok(own.length > 0 && own.every(({ createdTime }) => createdTime >= user.createdTime));
});

test("whoever bets is found by id, and their bets by name in three ways", async () => {
  const [bet] = (await get("/bets?limit=1")) as Row[];
  const user: User = await get(`/user/by-id/${bet?.userId}`);
  const byName: Row[] = await get(`/bets?username=${user.username}&limit=5`);
  assert.ok(byName.length > 0 && byName.every(({ userId }) => userId === user.id));
  assert.deepEqual(await get(`/bets?userId=${user.id}&limit=5`), byName);
  assert.deepEqual(await get(`/user/${user.username}/bets?limit=5`), byName);
});

test("users are listed once each, the newest first, page by page", async () => {
  const all: User[] = await get("/users?limit=1000");
  assert.ok(all.length > 5);
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
  assert.ok(all.every((user, position) => position === 0 || user.createdTime <= (all[position - 1]?.createdTime ?? 0)));
  const next: User[] = await get(`/users?limit=3&before=${all[2]?.id}`);
  assert.deepEqual(next, all.slice(3, 6));
  const [first, second] = all;
  const found: User[] = await get(`/users/by-id?ids=${first?.id}&ids=${second?.id}`);
  assert.deepEqual(
    found.map(({ id }) => id),
    [first?.id, second?.id],
  );
});

test("404: nobody's name or id; 401: whoever does not say who they are; 400: a parameter that nobody knows", async () => {
  for (const path of [
    "/user/nobody",
    "/user/Forecaster007",
    "/user/Forecaster5000",
    "/user/by-id/u1",
    "/bets?username=x",
  ]) {
    assert.equal((await ask(path)).status, 404, path);
  }
  assert.equal((await ask("/me")).status, 401);
  const posted = await app.inject({ method: "POST", url: "/v0/bet", payload: { contractId: "x", amount: 1 } });
  assert.equal(posted.statusCode, 401);
  assert.equal((await ask("/comments?colour=red")).status, 400);
  assert.equal((await ask("/users?limit=1001")).status, 400);
});

test("nobody comments, pays or ranks, which is an empty list and not a missing page", async () => {
  const market = await aMarket();
  for (const path of [
    `/comments?contractId=${market.id}`,
    `/market/${market.id}/positions?order=shares&top=3`,
    "/managrams?limit=2",
    "/txns?limit=2",
    "/leagues",
    "/leaderboard?kind=profit",
    `/user-portfolio-history?userId=${market.creatorId}&period=daily`,
  ]) {
    assert.deepEqual(await get(path), [], path);
  }
  assert.equal((await ask("/comments?contractId=nothing")).status, 404);
  assert.equal(Object(await get(`/user-portfolio?userId=${market.creatorId}`)).userId, market.creatorId);
});

test("an answer, the topics of a market and the markets of a topic are found on their own", async () => {
  const [multiple] = (await get("/search-markets?contractType=MULTIPLE_CHOICE&limit=1")) as Row[];
  const full: Row = await get(`/market/${multiple?.id}`);
  const [answer] = full.answers;
  assert.deepEqual(await get(`/answer/${answer?.id}`), answer);
  const topics: { id: string; slug: string }[] = await get(`/market/${full.id}/groups`);
  assert.deepEqual(
    topics.map(({ slug }) => slug),
    full.groupSlugs,
  );
  const ofTopic: Row[] = await get(`/group/by-id/${topics[0]?.id}/markets`);
  assert.ok(ofTopic.some(({ id }) => id === full.id));
  assert.equal(((await get("/groups?limit=1")) as Row[]).length, 1);
});

test("the address of old answers like the new one, to any site", async () => {
  const old = await app.inject({ url: "/api/v0/markets?limit=3" });
  assert.deepEqual(old.json(), await get("/markets?limit=3"));
  assert.equal(old.headers["access-control-allow-origin"], "*");
  const asked = await app.inject({ method: "OPTIONS", url: "/v0/markets" });
  assert.equal(asked.statusCode, 204);
});
