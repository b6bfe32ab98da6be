/** Signals: the side of a market to buy, the maximum price, the size, and the expiry. */
export { bestSignalRoutes } from "./best-routes.ts";
export { createBestSignals } from "./best-signals.ts";
export { createEdgeOrder } from "./edge-order.ts";
export { hedgePriceOf } from "./hedge.ts";
export { BOOK_SOURCES, type KnownBook, knownBookOf, quoteBook } from "./known-book.ts";
export type { Preparation, PreparedSignal, SignalRequest } from "./model.ts";
export { presentRun } from "./present.ts";
export { deferCharge, disconnectOf, SIGNAL_ERRORS, SIGNAL_METERING, signalRoutes } from "./routes.ts";
export { marketChoice, RECOMMENDATIONS, readSizing, sizingChoice, USD_MAX, waitOption } from "./schema.ts";
export { createSignalsService, SHADOW_SIZING, type SignalObserver, type SignalsService } from "./service.ts";
