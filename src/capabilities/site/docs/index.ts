/** The documentation: guides and a reference of all operations, rendered on the server. */
export { docsRoutes } from "./routes.ts";
