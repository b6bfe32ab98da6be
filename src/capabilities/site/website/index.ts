/** The public pages: the start page, markets, the track record and pricing. They need no key and no JavaScript. */
export { websiteRoutes } from "./routes.ts";
