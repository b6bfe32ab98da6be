import { hash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { METERING } from "../../domain/metering.ts";

/** Shared by all pages: follows the system's light or dark theme, and uses one column on narrow screens. */
const STYLESHEET = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9;
  --paper: #ffffff;
  --ink: #17202b;
  --faint: #5b6775;
  --line: #dde2e8;
  --accent: #0b5fc0;
  --on-accent: #ffffff;
  --warn: #a3260f;
  --tint: #eaf2fc;
  --bar: #e3e8ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10151b;
    --paper: #182029;
    --ink: #e6ebf1;
    --faint: #9aa7b5;
    --line: #2b3642;
    --accent: #6cb0ff;
    --on-accent: #0a1420;
    --warn: #ff9a85;
    --tint: #1b2c40;
    --bar: #2b3642;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding-top: 1.25rem; padding-bottom: 1.25rem; }
footer { padding-top: 1rem; padding-bottom: 2.5rem; color: var(--faint); font-size: .875rem; }
.brand { font-weight: 700; letter-spacing: .01em; color: var(--ink); text-decoration: none; }
a { color: var(--accent); }
h1 { font-size: 1.625rem; line-height: 1.25; margin: .5rem 0 1.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; line-height: 1.35; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin: 0 0 1.25rem; min-width: 0; }
section > :last-child { margin-bottom: 0; }
dl + p, form + details, form + p { margin-top: 1rem; }
.narrow { max-width: 36rem; }
.columns { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); align-items: start; margin: 0 0 1.25rem; }
.columns > section { margin: 0; }
.faint { color: var(--faint); }
.small { font-size: .875rem; }
.notice { background: var(--tint); }
.warn { color: var(--warn); }
label { display: block; font-weight: 600; margin: 0 0 .25rem; }
label .faint { font-weight: 400; }
input { width: 100%; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--faint); border-radius: .5rem; padding: .5rem .75rem; margin: 0 0 1rem; }
button, a.button { font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .5rem; padding: .5rem 1rem; cursor: pointer; }
a.button { display: inline-block; text-decoration: none; }
button.quiet { color: var(--ink); background: transparent; border-color: var(--faint); font-weight: 500; }
button.danger { color: var(--warn); background: transparent; border-color: var(--warn); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code { font: .9375em/1.5 ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; overflow-wrap: anywhere; }
code.key { display: block; padding: .75rem 1rem; margin: 0 0 .75rem; background: var(--tint); border: 1px solid var(--line); border-radius: .5rem; user-select: all; }
code.key:last-child { margin-bottom: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
.plain { list-style: none; margin: 0; padding: 0; }
.usage { list-style: none; margin: 0 0 .75rem; padding: 0; }
.usage li { margin: 0 0 .875rem; }
.usage .numbers { display: flex; justify-content: space-between; gap: 1rem; }
meter { appearance: none; -webkit-appearance: none; display: block; width: 100%; height: .5rem; margin: .25rem 0 0; border: 0; border-radius: .25rem; background: var(--bar); overflow: hidden; }
/* Chromium draws the bar at half the height of its container. In other browsers the overflow is clipped. */
meter::-webkit-meter-inner-element { display: block; height: 1rem; }
meter::-webkit-meter-bar { border: 0; border-radius: 0; background: var(--bar); }
meter::-webkit-meter-optimum-value { background: var(--accent); }
meter::-webkit-meter-suboptimum-value, meter::-webkit-meter-even-less-good-value { background: var(--warn); }
meter::-moz-meter-bar { background: var(--accent); }
meter:-moz-meter-sub-optimum::-moz-meter-bar, meter:-moz-meter-sub-sub-optimum::-moz-meter-bar { background: var(--warn); }
table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; }
th { text-align: left; white-space: nowrap; color: var(--faint); font-weight: 500; font-size: .875rem; padding: 0 .75rem .5rem 0; }
td { border-top: 1px solid var(--line); padding: .75rem .75rem .75rem 0; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { width: 40%; min-width: 8rem; }
td:last-child { padding-right: 0; min-width: 7rem; }
td[data-label], summary { white-space: nowrap; }
details { margin: 0 0 .5rem; white-space: normal; }
details:last-child { margin-bottom: 0; }
summary { cursor: pointer; color: var(--accent); font-weight: 500; }
details form { margin: .5rem 0; }
.inline { display: flex; gap: .75rem; align-items: end; }
.inline div { flex: 1; min-width: 0; }
.inline input { margin: 0; }
.inline button { white-space: nowrap; }
@media (max-width: 40rem) {
  header, main, footer { padding-left: 1rem; padding-right: 1rem; }
  section { padding: 1rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td { display: block; }
  tr { border-top: 1px solid var(--line); padding: .75rem 0; }
  tbody tr:first-child { border-top: 0; padding-top: 0; }
  td, td:first-child { width: auto; border: 0; padding: .125rem 0; }
  td[data-label]::before { content: attr(data-label) ": "; color: var(--faint); }
  dl { display: block; }
  dd { margin: 0 0 .5rem; }
  .inline { display: block; }
  .inline input { margin-bottom: .75rem; }
}
`.trimStart();

/** Contains a hash of the content, because browsers may cache the file indefinitely. */
export const STYLESHEET_URL = `/account/style-${hash("sha256", STYLESHEET, "hex").slice(0, 16)}.css`;

/** Serves the stylesheet. */
export function stylesheetRoute(app: FastifyInstance): void {
  app.get(
    STYLESHEET_URL,
    {
      config: { access: "public", metering: METERING.FREE, cacheControl: "public, max-age=31536000, immutable" },
      schema: { hide: true },
    },
    (_request, reply) => reply.type("text/css; charset=utf-8").send(STYLESHEET),
  );
}
