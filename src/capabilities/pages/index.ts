/** Pages for people: the look they share. What stands in them is the business of who serves them. */
export { keySection, noticePage, page } from "./layout.ts";
export { pageRoutes } from "./routes.ts";
