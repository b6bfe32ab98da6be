import { readFileSync } from "node:fs";
import { defineAsset } from "../../../http/html/index.ts";

/** Styles that only the account pages need. */
export const ACCOUNT_STYLES = defineAsset(
  "account",
  "css",
  readFileSync(new URL("./browser/account.css", import.meta.url), "utf8"),
);
