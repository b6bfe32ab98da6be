import type { Authenticator, Principal } from "../../../http/auth.ts";
import type { createMarketplace, MarketplaceCaller } from "./marketplace.ts";

/** Authenticates a request by the marketplace's headers. The principal is the marketplace user who sent the request. */
export function createMarketplaceAuthenticator(marketplace: ReturnType<typeof createMarketplace>): Authenticator {
  return ({ headers }) => {
    // Node joins repeated headers into one string, which matches no secret.
    const header = (name: string) => (headers[name] === undefined ? undefined : String(headers[name]));
    const caller = marketplace.identify({
      secret: header("x-rapidapi-proxy-secret"),
      user: header("x-rapidapi-user"),
      subscription: header("x-rapidapi-subscription"),
    });
    if (caller === null) return null;
    return caller instanceof Promise ? caller.then(toPrincipal) : toPrincipal(caller);
  };
}

const toPrincipal = (caller: MarketplaceCaller): Principal => ({ kind: "marketplace", ...caller });
