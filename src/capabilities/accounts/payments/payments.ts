import type { HttpOut } from "../../../ports/http-out.ts";
import type { AreaPorts } from "../../area-ports.ts";
import type { AddressLimits } from "../metering/index.ts";
import { createChainReader } from "./chain.ts";
import { createFacilitator } from "./facilitator.ts";
import type { PaymentSettings } from "./model.ts";
import { createPaymentGate } from "./payment-gate.ts";
import { createPaymentReconciler } from "./reconciler.ts";
import { createPaymentService } from "./service.ts";
import { findConfigurationErrors } from "./startup-check.ts";
import { createSignatureCheck } from "./validate-payment.ts";

/** The settings of pay per request, and the HTTP client for the facilitator and the chain. */
export interface PaymentPorts extends PaymentSettings {
  readonly http: HttpOut;
  /** Timeouts of facilitator requests, for tests. */
  readonly deadlines?: { readonly verifyMs: number; readonly settleMs: number };
}

export async function createPayments(
  ports: PaymentPorts &
    Pick<AreaPorts, "database" | "clock" | "random" | "log" | "publicUrl"> & { readonly addresses: AddressLimits },
) {
  const { log, publicUrl, addresses, asset, http, rpcUrl, deadlines } = ports;
  if (publicUrl === null) throw new Error("payments require a public URL");
  const service = createPaymentService({
    ...ports,
    facilitator: createFacilitator({
      http,
      url: ports.facilitatorUrl,
      token: ports.facilitatorToken,
      verifyDeadlineMs: deadlines?.verifyMs,
      settleDeadlineMs: deadlines?.settleMs,
    }),
    chain: rpcUrl === null ? null : createChainReader({ http, url: rpcUrl, asset }),
    isSignedByPayer: await createSignatureCheck(asset),
  });
  const reconciler = createPaymentReconciler({ ...ports, service });
  return {
    gate: createPaymentGate({ service, publicUrl, log, addresses }),
    /** Starts the reconciler and logs a warning for every mismatch between the settings, the facilitator and the chain. */
    start(): void {
      reconciler.start();
      void findConfigurationErrors(ports).then((mismatches) => {
        for (const mismatch of mismatches) log.warn({}, mismatch);
      });
    },
    stop: () => reconciler.stop(),
    /**
     * For metrics: `counts` are the transitions made by this process, by state; `unknown` is the number of unknown
     * settlements.
     */
    figures: () => ({ counts: service.counts, unknown: reconciler.unknownCount }),
  };
}
