/** Signals: the side of a market to buy, the maximum price, the size, and the expiry. */
export { bestSignalRoutes } from "./best-routes.ts";
export { createBestSignals } from "./best-signals.ts";
export { createEdgeOrder } from "./edge-order.ts";
export { hedgePriceOf } from "./hedge.ts";
export { BOOK_SOURCES, type KnownBook, knownBookOf, quoteBook } from "./known-book.ts";
export type { PreparedSignal, SignalRequest } from "./model.ts";
export { disconnectSignal, respondRunning, SIGNAL_ERRORS, SIGNAL_METERING, signalRoutes } from "./routes.ts";
export { marketFields, RECOMMENDATIONS, readSizing, sizingFields, USD_MAX, waitOption } from "./schema.ts";
export { createSignalsService, SHADOW_SIZING, type SignalObserver, type SignalsService } from "./service.ts";
