import assert from "node:assert/strict";
import { test } from "node:test";
import Type from "typebox";
import { CUSTOMER, KEY_ROUTE, PUBLIC_ROUTE, testServer, VALID_KEY } from "../../test/support/test-app.ts";
import { currentCaller } from "../lib/current-caller.ts";
import { defineRoute } from "./route.ts";

test("`currentCaller` is the customer or, without an account, the IP address block, also in asynchronous work", async () => {
  const { app } = await testServer();
  const handler = async () => {
    await new Promise(setImmediate);
    return currentCaller();
  };
  defineRoute(app, { ...PUBLIC_ROUTE, url: "/public", operationId: "a", handler });
  defineRoute(app, { ...KEY_ROUTE, url: "/key", operationId: "b", params: Type.Object({}), handler });
  const callerOf = async (url: string, remoteAddress = "127.0.0.1") => {
    const headers = { authorization: `Bearer ${VALID_KEY}` };
    return (await app.inject({ url, headers, remoteAddress })).body;
  };
  assert.equal(await callerOf("/key"), CUSTOMER.customerId);
  assert.equal(await callerOf("/public", "192.0.2.7"), "192.0.2.7");
  const [one, same, other] = await Promise.all(
    ["2001:db8:1:2::3", "2001:db8:1:2::4", "2001:db8:1:3::3"].map((address) => callerOf("/public", address)),
  );
  assert.equal(one, same);
  assert.notEqual(one, other);
  assert.equal(currentCaller(), null);
});
