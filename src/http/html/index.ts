/** HTML pages: templates, the shared layout, forms and error pages. Each capability renders its own content. */
export {
  definePage,
  type HtmlPage,
  type ProblemPage,
  sendPage,
  setPrivateHeaders,
} from "./define-page.ts";
export { acceptForms, createFormSubmissions, FORM, FormId, newFormId, prefersHtml } from "./forms.ts";
export { type Html, html } from "./html.ts";
export { keySection, noticePage, page, table } from "./layout.ts";
export { browserProblemPage, notFoundPage, problemPage, problemText, problemTitle } from "./problem-pages.ts";
export { stylesheetRoute } from "./stylesheet.ts";
