import { readFileSync } from "node:fs";
import { defineAsset, html } from "../../../http/html/index.ts";

export const WEBSITE_STYLESHEET_ASSET = defineAsset(
  "website",
  "css",
  readFileSync(new URL("./website.css", import.meta.url), "utf8"),
);

/** The link to the stylesheet of these pages. */
export const WEBSITE_STYLES = html`<link rel="stylesheet" href="${WEBSITE_STYLESHEET_ASSET.url}">`;
