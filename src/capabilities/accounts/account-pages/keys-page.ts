import { type Html, html, type Page, renderTable } from "../../../http/html/index.ts";
import { ACTIVE_KEYS_MAX, formatMinute, KEY_NAME_LENGTH_MAX, type KeyView } from "../customers/index.ts";
import { createConfirmationPage, createSignedInPage } from "./account-layout.ts";
import { type FormSecrets, type RejectedForm, renderField, renderFormError, renderHiddenFields } from "./fields.ts";
import { formatDay } from "./format.ts";

const KEYS_PATH = "/account/keys";

/** @param view.proof  the reauthentication form; null if the customer signed in or reauthenticated recently */
export function createKeysPage(view: {
  readonly form: FormSecrets;
  readonly keys: readonly KeyView[];
  readonly proof: Html | null;
}): Page {
  const { form, keys, proof } = view;
  const activeKeys = keys.filter(({ revokedAt }) => revokedAt === null);
  const revokedKeys = keys.filter(({ revokedAt }) => revokedAt !== null);
  return createSignedInPage({
    title: "API keys",
    current: KEYS_PATH,
    form,
    body: html`${proof}
<section>
<h2>Active keys</h2>
${activeKeys.length === 0 ? html`<p>You have no active keys. Create one to use the API.</p>` : renderActiveKeys(activeKeys)}
<p class="faint small">We store only a hash of a key, so it can’t be shown again. If you lost a key, rotate it.</p>
</section>
${proof === null ? renderNewKeySection(activeKeys.length, form) : null}
${
  revokedKeys.length === 0
    ? null
    : html`<section><details><summary>Revoked keys (${revokedKeys.length})</summary>
${renderRevokedKeys(revokedKeys)}
</details></section>`
}`,
  });
}

const renderActiveKeys = (keys: readonly KeyView[]): Html =>
  renderTable(
    ["Name", "Key", "Created", "Last used", "Actions"],
    keys.map((key) => ({
      cells: [
        html`<strong>${key.name}</strong>`,
        html`<code class="id">${key.prefix}…</code>`,
        formatDay(key.createdAt),
        formatLastUse(key),
        html`<span class="actions"><a href="${KEYS_PATH}/${key.keyId}/rotate" aria-label="Rotate ${key.name}">Rotate</a> <a href="${KEYS_PATH}/${key.keyId}/revoke" aria-label="Revoke ${key.name}">Revoke</a></span>`,
      ],
    })),
  );

const renderRevokedKeys = (keys: readonly KeyView[]): Html =>
  renderTable(
    ["Name", "Key", "Last used", "Revoked"],
    keys.map((key) => ({
      isFaint: true,
      cells: [
        key.name,
        html`<code class="id">${key.prefix}…</code>`,
        formatLastUse(key),
        key.revokedAt === null ? "" : formatMinute(key.revokedAt),
      ],
    })),
  );

const formatLastUse = ({ lastUsedAt }: KeyView): string => (lastUsedAt === null ? "never" : formatMinute(lastUsedAt));

const renderNewKeySection = (activeCount: number, form: FormSecrets): Html => html`<section>
<h2>Create API key</h2>
${
  activeCount >= ACTIVE_KEYS_MAX
    ? html`<p>You can have up to ${ACTIVE_KEYS_MAX} active keys. Revoke one to create another.</p>`
    : html`<form method="post" action="${KEYS_PATH}" class="inline">
${renderHiddenFields(form)}
<div>${renderKeyNameField(null)}</div>
<button type="submit">Create API key</button>
</form>`
}
</section>`;

const renderKeyNameField = (rejected: RejectedForm | null): Html =>
  renderField({ id: "key-name", name: "name", label: "Name", lengthMax: KEY_NAME_LENGTH_MAX, rejected });

/** The form to create a key, with the error of its last submission. */
export const createRejectedKeyPage = (form: FormSecrets, rejected: RejectedForm): Page =>
  createSignedInPage({
    title: "Create API key",
    current: KEYS_PATH,
    form,
    body: html`<section class="narrow">
${renderFormError(rejected, ["name"])}
<form method="post" action="${KEYS_PATH}">
${renderHiddenFields(form)}
${renderKeyNameField(rejected)}
<p class="actions"><button type="submit">Create API key</button> <a href="${KEYS_PATH}">Cancel</a></p>
</form>
</section>`,
  });

const CHANGES = {
  rotate: {
    title: "Rotate API key",
    button: "Rotate key",
    effect: "It stops working immediately. You get a new key with the same name.",
  },
  revoke: {
    title: "Revoke API key",
    button: "Revoke key",
    effect: "It stops working immediately and is not replaced. This cannot be undone.",
  },
} as const;

/** Asks for confirmation before a key is rotated or revoked. */
export const createKeyChangePage = (change: keyof typeof CHANGES, key: KeyView, form: FormSecrets): Page =>
  createConfirmationPage({
    title: CHANGES[change].title,
    current: KEYS_PATH,
    form,
    action: `${KEYS_PATH}/${key.keyId}/${change}`,
    text: html`<p><strong>${key.name}</strong> <code class="id">${key.prefix}…</code>, last used: ${formatLastUse(key)}.</p>
<p>${CHANGES[change].effect}</p>`,
    button: CHANGES[change].button,
  });
