/** Shared by all pages: follows the system's light or dark theme, and uses one column on narrow screens. */
export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f8fa, #0f1419);
  --paper: light-dark(#ffffff, #161c24);
  --ink: light-dark(#19212c, #e6ebf1);
  --faint: light-dark(#566272, #9ba8b6);
  --line: light-dark(#e1e6ec, #28323d);
  --accent: light-dark(#0b5cbf, #74b4ff);
  --on-accent: light-dark(#ffffff, #0a1420);
  --up: light-dark(#08743f, #4cc78a);
  --down: light-dark(#b3261e, #ff9a92);
  --warn: light-dark(#a3260f, #ff9a85);
  --tint: light-dark(#eef4fc, #18263a);
  --bar: light-dark(#e3e8ee, #2b3642);
  --badge: light-dark(#7a4b00, #f2b84b);
  --on-badge: light-dark(#ffffff, #241700);
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.site > div, main, .with-sidebar { width: 100%; max-width: 72rem; margin: 0 auto; padding: 0 1.5rem; }
body > main, body > .with-sidebar { flex: 1; padding-top: 2rem; padding-bottom: 2rem; }
main:focus { outline: none; }
header.site { background: var(--paper); border-bottom: 1px solid var(--line); }
header.site > div { display: flex; align-items: center; gap: .75rem; min-height: 3.5rem; }
header.site nav { display: flex; align-self: stretch; gap: 1.5rem; margin-left: auto; }
header.site nav a { display: flex; align-items: center; color: var(--faint); text-decoration: none; font-size: .9375rem; font-weight: 500; border-bottom: 2px solid transparent; border-top: 2px solid transparent; }
header.site nav a:hover { color: var(--ink); }
header.site nav a[aria-current] { color: var(--ink); border-bottom-color: var(--accent); }
.corner { display: flex; align-items: center; margin-left: .75rem; }
.corner form, .corner button { margin: 0; }
.corner button { padding: .3125rem .75rem; font-size: .875rem; }
footer.site { border-top: 1px solid var(--line); color: var(--faint); font-size: .875rem; }
footer.site > div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .5rem 1.5rem; padding-top: 1.25rem; padding-bottom: 1.25rem; }
footer.site nav { display: flex; gap: 1.5rem; }
footer.site a { color: var(--faint); }
.skip, .visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip:focus { left: 1rem; top: .5rem; width: auto; height: auto; clip-path: none; padding: .375rem .75rem; background: var(--paper); z-index: 1; }
.brand { display: inline-flex; align-items: center; gap: .5rem; font-weight: 650; font-size: 1.0625rem; color: var(--ink); text-decoration: none; }
.brand::before { content: ""; width: 1.5rem; height: 1.5rem; background: url("/favicon.svg") center / contain no-repeat; }
.badge { font-size: .6875rem; font-weight: 600; letter-spacing: .02em; color: var(--on-badge); background: var(--badge); border-radius: 1rem; padding: .125rem .5rem; }
.with-sidebar { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2rem; align-items: start; }
.with-sidebar > main { margin: 0; padding: 0; max-width: none; }
a { color: var(--accent); }
a:hover { text-decoration-thickness: 2px; }
h1, h2, h3 { text-wrap: balance; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.015em; margin: 0 0 1.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; line-height: 1.35; margin: 0 0 .75rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; line-height: 1.4; margin: 0 0 .25rem; }
p { margin: 0 0 .75rem; overflow-wrap: anywhere; }
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
.number { text-align: right; font-variant-numeric: tabular-nums; }
.up { color: var(--up); }
.down { color: var(--down); }
label { display: block; font-weight: 600; margin: 0 0 .25rem; }
label .faint { font-weight: 400; }
input, select { width: 100%; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--faint); border-radius: .5rem; padding: .5rem .75rem; margin: 0 0 1rem; }
::placeholder { color: var(--faint); opacity: 1; }
button, a.button { font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .5rem; padding: .5rem 1rem; cursor: pointer; }
a.button { display: inline-block; text-decoration: none; }
button:hover, a.button:hover { filter: brightness(1.08); }
button.quiet, a.button.quiet { color: var(--ink); background: transparent; border-color: var(--faint); font-weight: 500; }
button.quiet:hover, a.button.quiet:hover { background: var(--tint); filter: none; }
button.danger { color: var(--warn); background: transparent; border-color: var(--warn); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code { font: .9375em/1.5 ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; overflow-wrap: anywhere; }
.code { position: relative; margin: 0 0 .75rem; }
.code pre { margin: 0; padding: .75rem 5.5rem .75rem 1rem; background: var(--tint); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto; }
.code code { white-space: pre; overflow-wrap: normal; user-select: all; }
.code .copy { position: absolute; top: .375rem; right: .375rem; padding: .25rem .75rem; background: var(--paper); font-size: .875rem; }
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
@media (prefers-reduced-motion: no-preference) {
  a, button { transition: color .12s, background-color .12s, filter .12s; }
}
@media (max-width: 40rem) {
  .site > div, main, .with-sidebar { padding-left: 1rem; padding-right: 1rem; }
  body > main, body > .with-sidebar { padding-top: 1.25rem; }
  header.site > div { flex-wrap: wrap; row-gap: 0; min-height: 0; padding-top: .625rem; }
  header.site nav { order: 1; width: 100%; margin: .25rem 0 0; gap: .5rem; justify-content: space-between; }
  header.site nav a { min-height: 2.5rem; white-space: nowrap; }
  .corner { margin-left: auto; }
  h1 { font-size: 1.5rem; }
  .with-sidebar { display: block; }
  .code pre { padding-right: 1rem; }
  .code .copy { position: static; margin-top: .5rem; }
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
@media (max-width: 23rem) {
  header.site nav { gap: .25rem; }
  header.site nav a { font-size: .8125rem; }
}
`.trimStart();
