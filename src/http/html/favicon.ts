import type { FastifyInstance } from "fastify";
import { fileRoute } from "./assets.ts";

export const FAVICON_URL = "/favicon.svg";

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5fc0"/>
<path d="M7 22l6-7 5 4 7-9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>
<path d="M7 26l6-7 5 4 7-9" fill="none" stroke="#8fc1ff" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/>
</svg>
`;

/** Serves the icon. Browsers request `/favicon.ico` if a response, such as JSON, does not link to an icon. */
export function faviconRoutes(app: FastifyInstance): void {
  for (const url of [FAVICON_URL, "/favicon.ico"])
    fileRoute(app, { url, type: "image/svg+xml", content: FAVICON }, "public, max-age=86400");
}
