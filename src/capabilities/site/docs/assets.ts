import { readFileSync } from "node:fs";
import { COPY_SCRIPTS, defineAsset } from "../../../http/html/index.ts";

const readAsset = (name: string): string => readFileSync(new URL(`./browser/${name}`, import.meta.url), "utf8");

export const DOCS_STYLESHEET = defineAsset("docs", "css", readAsset("docs.css"));
export const DOCS_SCRIPT = defineAsset("docs", "js", readAsset("docs.js"));

/** The scripts of every page of the documentation. */
export const DOCS_SCRIPTS: readonly string[] = [...COPY_SCRIPTS, DOCS_SCRIPT.url];
