import { html, loadAsset } from "../../../http/html/index.ts";

export const WEBSITE_STYLESHEET_ASSET = loadAsset(new URL("./website.css", import.meta.url));

/** The link to the stylesheet of these pages. */
export const WEBSITE_STYLES = html`<link rel="stylesheet" href="${WEBSITE_STYLESHEET_ASSET.url}">`;
