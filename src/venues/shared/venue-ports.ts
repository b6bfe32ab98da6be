import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HttpOut } from "../../ports/http-out.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { SocketOut } from "../../ports/socket-out.ts";
import type { DriftCounter, DropCounter } from "../../ports/venue.ts";

/** Dependencies of every venue adapter, besides its base URLs. */
export interface VenuePorts {
  /** Public id of the venue in this deployment. */
  readonly id: VenueId;
  readonly playMoney: boolean;
  readonly http: HttpOut;
  readonly sockets: SocketOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly countDrop: DropCounter;
  readonly drift: DriftCounter;
  /** True if the client may exceed the published limits, because the venue is simulated. False by default. */
  readonly areLimitsLifted?: boolean;
}
