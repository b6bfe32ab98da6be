/** HTML pages: templates, the shared layout, forms and error pages. Each capability renders its own content. */
export { definePage, sendPage, setPrivateHeaders } from "./define-page.ts";
export { acceptForms, createFormId, createFormSubmissions, FORM_CONTENT_TYPE, FormId, prefersHtml } from "./forms.ts";
export { type Html, html } from "./html.ts";
export { renderKeySection, renderNoticePage, renderPage, renderTable } from "./layout.ts";
export {
  describeProblem,
  type HtmlPage,
  type ProblemPage,
  renderBrowserProblemPage,
  renderNotFoundPage,
  renderProblemPage,
  selectProblemTitle,
} from "./problem-pages.ts";
export { stylesheetRoute } from "./stylesheet.ts";
