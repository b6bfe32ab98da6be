/** The public pages: the start page, markets and pricing. They need no key and no JavaScript. */
export { websiteRoutes } from "./routes.ts";
