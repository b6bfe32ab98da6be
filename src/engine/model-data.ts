/** The fitted coefficients that the service uses. `npm run fit` writes the file. */
import coefficients from "./coefficients.json" with { type: "json" };
import type { EngineCoefficients } from "./model.ts";

export const ENGINE_COEFFICIENTS = coefficients as EngineCoefficients;
