/**
 * Writes the example responses of the reference (`docs/examples`) from a sandbox. Run it after a change of a response:
 * `node test/examples/write-examples.ts [operation id ...]`. A new operation needs a file with its request first.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { startServiceProcess, temporaryFolder } from "../support/service-process.ts";
import {
  analyse,
  EXAMPLES_FOLDER,
  listExampleIds,
  readLiveValues,
  registerWebhook,
  send,
  startWebhookReceiver,
  WEBHOOK_URL,
  waitForDeliveries,
} from "./requests.ts";
import { trimExample } from "./trim-example.ts";

const chosen = process.argv.slice(2);
/** These use the account or change it, so they run in this order. */
const ACCOUNT_OPERATIONS = ["sign_up", "get_me", "create_key", "list_keys", "revoke_key", "rotate_key"];

const folder = await temporaryFolder();
const service = await startServiceProcess({ dataDir: folder.path });
const receiver = await startWebhookReceiver();
try {
  const webhookId = await registerWebhook(service, receiver.url, service.keys.enterprise);
  const live = { ...(await readLiveValues(service)), url: receiver.url, webhook_id: webhookId };
  await analyse(service, `/v1/markets/${live.platform}/${encodeURIComponent(live.market_ids[1] ?? "")}/analyze`);
  await waitForDeliveries(service, webhookId, 2);
  const paths = (await service.get("/openapi.json", {})).json.paths;
  const others = listExampleIds().filter((id) => !ACCOUNT_OPERATIONS.includes(id) && id !== "verify_email");
  let key = service.keys.enterprise;
  let keyId = "";
  // The consensus shows the reported trade, and the portfolio the paper trade.
  const isTrade = (id: string) => Number(id === "report_trade" || id === "enter_paper_trade");
  const isDeletion = (id: string) => Number(id === "delete_webhook");
  others.sort((a, b) => isTrade(b) - isTrade(a) || isDeletion(a) - isDeletion(b));
  for (const id of [...ACCOUNT_OPERATIONS.slice(0, 1), ...others, ...ACCOUNT_OPERATIONS.slice(1)]) {
    const file = new URL(`${id}.json`, EXAMPLES_FOLDER);
    const example = JSON.parse(readFileSync(file, "utf8"));
    const values = id === "revoke_key" ? { ...live, key_id: keyId } : live;
    const callKey = ACCOUNT_OPERATIONS.includes(id) ? key : service.keys.enterprise;
    const { status, body, request } = await send(service, paths, id, example.request, { values, key: callKey });
    if (status >= 300) throw new Error(`${id} returned ${status}: ${JSON.stringify(body)}`);
    const answer = body as { readonly api_key: string; readonly key_id: string };
    if (id === "sign_up") key = answer.api_key;
    if (id === "create_key") keyId = answer.key_id;
    const write = (name: string, content: unknown) =>
      chosen.length > 0 && !chosen.includes(name)
        ? undefined
        : writeFileSync(
            new URL(`${name}.json`, EXAMPLES_FOLDER),
            `${JSON.stringify(trimExample(name, content), null, 2)}\n`.replaceAll(receiver.url, WEBHOOK_URL),
          );
    write(id, { request, response: body });
    // The sandbox sends no e-mail, so no token exists. The response has the fields of a sign-up without verification.
    if (id !== "sign_up") continue;
    const verification = JSON.parse(readFileSync(new URL("verify_email.json", EXAMPLES_FOLDER), "utf8"));
    const { requires_verification: _flag, ...verified } = body as Record<string, unknown>;
    write("verify_email", { ...verification, response: verified });
  }
} finally {
  await service.end();
  await receiver.close();
  await folder.release();
}
