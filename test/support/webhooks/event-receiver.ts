import type { ServerResponse } from "node:http";
import { atFileEnd } from "../file-end.ts";
import { startReceiver } from "./receiver.ts";

/** Starts a server on loopback that receives webhooks until the tests end. It answers 200 by default. */
export async function openReceiver(respond: (response: ServerResponse) => void = (response) => response.end()) {
  const state = { respond };
  const receiver = await startReceiver((_request, response) => state.respond(response));
  atFileEnd(() => receiver.close());
  const { requests } = receiver;
  return {
    url: `http://127.0.0.1:${receiver.port}`,
    requests,
    /** A test can replace `respond` later. */
    state,
    /** Returns the ids of the events that arrived on a path, in the order of arrival. */
    idsOn: (path: string) => requests.filter((request) => request.path === path).map(({ body }) => JSON.parse(body).id),
  };
}
