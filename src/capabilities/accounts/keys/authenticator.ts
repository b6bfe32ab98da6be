import type { AuthenticationOptions, Principal } from "../../../http/auth.ts";
import { cacheByObject } from "../../../lib/cache-by-object.ts";
import type { KeyDirectory } from "./key-directory.ts";
import type { KeyOwner } from "./queries.ts";

/** Resolves a Bearer key to the customer that owns it. Synchronous if the directory has the key in memory. */
export const createKeyAuthenticator =
  (keys: KeyDirectory): AuthenticationOptions["authenticate"] =>
  (bearer, request) => {
    const owner = keys.find(bearer, request);
    return owner instanceof Promise ? owner.then(toPrincipal) : toPrincipal(owner);
  };

const principalOf = cacheByObject((owner: KeyOwner): Principal => ({ kind: "customer", ...owner }));
const toPrincipal = (owner: KeyOwner | null): Principal | null => owner && principalOf(owner);
