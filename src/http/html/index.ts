/** HTML pages: templates, the shared layout, forms and error pages. Each capability renders its own content. */
export {
  definePage,
  type HtmlPage,
  type ProblemPage,
  sendPage,
  setPrivateHeaders,
} from "./define-page.ts";
export {
  acceptForms,
  createFormId as newFormId,
  createFormSubmissions,
  FORM_CONTENT_TYPE as FORM,
  FormId,
  prefersHtml,
} from "./forms.ts";
export { type Html, html } from "./html.ts";
export {
  renderKeySection as keySection,
  renderNoticePage as noticePage,
  renderPage as page,
  renderTable as table,
} from "./layout.ts";
export {
  describeProblem as problemText,
  renderBrowserProblemPage as browserProblemPage,
  renderNotFoundPage as notFoundPage,
  renderProblemPage as problemPage,
  selectProblemTitle as problemTitle,
} from "./problem-pages.ts";
export { stylesheetRoute } from "./stylesheet.ts";
