import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HttpOut } from "../../ports/http-out.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { SocketOut } from "../../ports/socket-out.ts";
import type { DriftCounter, DropCounter } from "../../ports/venue.ts";

/** What every venue adapter is built from, besides its own base URLs. */
export interface VenuePorts {
  /** The public name this deployment gives the venue. */
  readonly id: VenueId;
  readonly playMoney: boolean;
  readonly http: HttpOut;
  readonly sockets: SocketOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly drop: DropCounter;
  readonly drift: DriftCounter;
  /** The venue is a simulated one that enforces no request limits: its published ones are not kept to. False by default. */
  readonly areLimitsLifted?: boolean;
}
