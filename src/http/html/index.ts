/** Pages for people: the look they share. What stands in them is the business of who serves them. */
export { keySection, noticePage, page, table } from "./layout.ts";
export {
  browserProblemPage,
  notFoundPage,
  pageRoutes,
  problemPage,
  problemText,
  problemTitle,
} from "./problem-pages.ts";
