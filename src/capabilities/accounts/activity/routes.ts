import type { ObservedResponse } from "../../../http/server.ts";
import type { Activity } from "./service.ts";

/** Records the responses to requests with an API key. Requests with an unknown key, payers and marketplace users are not recorded. */
export function observeCustomerResponse(activity: Pick<Activity, "record">, response: ObservedResponse): void {
  const { request, method, route, status, code, seconds } = response;
  const { principal } = request;
  if (principal?.kind !== "customer" || principal.keyId === undefined) return;
  activity.record({
    customerId: principal.customerId,
    keyId: principal.keyId,
    requestId: request.id,
    method,
    route,
    status,
    code,
    durationMs: seconds * 1000,
    counted: request.metered?.counted ?? null,
  });
}
