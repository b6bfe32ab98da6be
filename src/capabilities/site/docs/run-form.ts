import { type Html, html } from "../../../http/html/index.ts";
import type { ExampleRequest, JsonSchema, Operation, Parameter, Site } from "./model.ts";
import { listValues } from "./schema-fields.ts";

const BODY_ROWS_MAX = 12;

/**
 * Renders the form that calls an operation from the page. `docs.js` sends the call and shows the response. Without a
 * script, only calls that a plain form can make are available: GET without a key and without path parameters.
 */
export function renderRunForm(operation: Operation, request: ExampleRequest, site: Site): Html {
  const { method, path, parameters, body, needsKey } = operation;
  const needsScript = needsKey || method !== "GET" || path.includes("{");
  const fields = parameters.filter((parameter) => parameter.in !== "header");
  return html`<section class="run">
<h2 id="run">Run</h2>
<form action="${needsScript ? "" : path}" method="get" data-run="${method}" data-path="${path}">
${needsKey ? renderKeyField(site) : null}
<div class="grid">
${fields.map((parameter) => renderField(parameter, findValue(parameter, request)))}
</div>
${body === null ? null : renderBodyField(request.body)}
${method === "GET" ? null : html`<p class="small faint">This call changes data of the account.</p>`}
${needsScript ? html`<noscript><p class="notice">This form needs JavaScript. Use a sample above instead.</p></noscript>` : null}
<p class="actions">${needsScript ? html`<button data-send disabled>Run</button>` : html`<button data-send>Run</button>`}
<button type="button" class="quiet" data-cancel hidden>Cancel</button></p>
<div role="status" data-status></div>
<pre data-output tabindex="0" role="region" aria-label="Response" hidden><code></code></pre>
</form>
</section>`;
}

const renderKeyField = ({ key }: Site): Html => html`<label for="run-key">API key</label>
<input id="run-key" data-key autocomplete="off" spellcheck="false" value="${key}">`;

const findValue = ({ in: place, name }: Parameter, { path, query }: ExampleRequest): string =>
  String((place === "path" ? path : query)[name] ?? "");

function renderField(parameter: Parameter, value: string): Html {
  const { name, in: place, isRequired } = parameter;
  const id = `run-${place}-${name}`;
  const note = isRequired ? null : html` <span class="faint">optional</span>`;
  return html`<div><label for="${id}">${name}${note}</label>${renderControl(parameter, id, value)}</div>`;
}

function renderControl({ name, in: place, isRequired, schema }: Parameter, id: string, value: string): Html {
  const values = isBoolean(schema) ? ["true", "false"] : schema.items === undefined ? listValues(schema) : [];
  if (values.length > 0) {
    const options = isRequired ? values : ["", ...values];
    return html`<select id="${id}" name="${name}" data-in="${place}">
${options.map((option) => (option === value ? html`<option selected>${option}</option>` : html`<option>${option}</option>`))}
</select>`;
  }
  const placeholder = schema.default === undefined ? "" : String(schema.default);
  // The text type lets users send invalid values and see the error.
  const control = html`id="${id}" name="${name}" data-in="${place}" value="${value}" placeholder="${placeholder}" autocomplete="off" spellcheck="false"`;
  return isRequired ? html`<input ${control} required>` : html`<input ${control}>`;
}

const isBoolean = ({ type }: JsonSchema): boolean => [type].flat().includes("boolean");

function renderBodyField(body: unknown): Html {
  const text = JSON.stringify(body, null, 2);
  const rows = Math.min(text.split("\n").length, BODY_ROWS_MAX);
  return html`<label for="run-body">Body</label>
<textarea id="run-body" data-body rows="${rows}" spellcheck="false">${text}</textarea>`;
}
