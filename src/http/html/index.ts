/** HTML pages: templates, the shared layout, assets, forms and error pages. Each capability renders its own content. */
export { assetRoutes, defineAsset, fileRoute, loadAsset } from "./assets.ts";
export {
  COPY_SCRIPTS,
  createNoticePage,
  KEY_SCRIPTS,
  renderCode,
  renderKeySection,
  renderTable,
} from "./components.ts";
export { definePage, type PageResult, redirectTo, sendPage, sendPublicPage, setPrivateHeaders } from "./define-page.ts";
export { resolveExampleSite, UNKNOWN_ORIGIN } from "./example-site.ts";
export { faviconRoutes } from "./favicon.ts";
export { acceptForms, createFormId, createFormSubmissions, FORM_CONTENT_TYPE, FormId, prefersHtml } from "./forms.ts";
export { type Html, html } from "./html.ts";
export {
  COPY_SCRIPT_ASSET,
  createPagePolicy,
  KEY_SCRIPT_ASSET,
  type Page,
  renderDocument,
  STYLESHEET_ASSET,
} from "./page.ts";
export {
  createBrowserProblemPage,
  createNotFoundPage,
  createProblemPage,
  describeProblem,
  type ProblemPage,
  selectProblemTitle,
} from "./problem-pages.ts";
