import { createTransport } from "nodemailer";
import { MailError } from "../../domain/errors.ts";
import { isLoopbackHost } from "../../lib/loopback.ts";
import type { Clock } from "../../ports/clock.ts";
import type { MailOut } from "../../ports/mail-out.ts";

const CONNECTIONS_MAX = 4;
const CONNECT_MS_MAX = 10_000;
const GREETING_MS_MAX = 10_000;
/** Maximum time without data from the server while an e-mail is sent. */
const SOCKET_IDLE_MS_MAX = 20_000;
/** Maximum time to send an e-mail, even if the server keeps sending data. Afterwards the connection is closed. */
const SEND_MS_MAX = 60_000;
const POOL_IDLE_MS_MAX = 30_000;
/** Maximum size of a server's reply, which usually has a few lines. */
const REPLY_BYTES_MAX = 65_536;

/**
 * Sends e-mails by SMTP. Because the e-mails contain sign-in links, connections are encrypted and the server's
 * certificate is checked, except on loopback. `?ignoreTLS=true` in the URL disables this, for a relay in a private
 * network.
 *
 * @param options.url   `smtp://` (STARTTLS) or `smtps://`, with user and password if the server requires them
 * @param options.from  the sender, `address` or `Name <address>`
 */
export function createSmtpMail(clock: Clock, options: { readonly url: string; readonly from: string }): MailOut {
  const url = new URL(options.url);
  const isEncryptionDisabled = url.searchParams.get("ignoreTLS") === "true";
  const transport = createTransport({
    url: options.url,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    // No retries here, because the caller decides how often to retry.
    maxRequeues: 0,
    connectionTimeout: CONNECT_MS_MAX,
    greetingTimeout: GREETING_MS_MAX,
    socketTimeout: SOCKET_IDLE_MS_MAX,
    idleTimeout: POOL_IDLE_MS_MAX,
    maxResponseSize: REPLY_BYTES_MAX,
    requireTLS: url.protocol === "smtp:" && !isEncryptionDisabled && !isLoopbackHost(url.hostname),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // The errors are ignored here, because `sendMail` rejects with them.
  transport.on("error", () => {});
  return {
    async send({ to, subject, text, html }) {
      const abort = new AbortController();
      const cancelTimeout = clock.setTimeout(() => abort.abort(), SEND_MS_MAX);
      try {
        await transport.sendMail({
          from: options.from,
          // An object, because a string would be parsed as a list of addresses.
          to: { name: "", address: to },
          subject,
          text,
          html,
          headers: { "Auto-Submitted": "auto-generated" },
          signal: abort.signal,
        });
      } catch (error) {
        throw toMailError(error);
      } finally {
        cancelTimeout();
      }
    },
    async close() {
      transport.close();
    },
  };
}

/** Creates an error that contains only codes, because the server's text may contain the recipient or the e-mail. */
function toMailError(error: unknown): MailError {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const status = typeof responseCode === "number" ? ` ${responseCode}` : "";
  // The operator can fix a wrong password, so the e-mail is retried.
  const isPermanent = code !== "EAUTH" && typeof responseCode === "number" && responseCode >= 500 && responseCode < 600;
  return new MailError(
    `The mail server did not accept an e-mail (${typeof code === "string" ? code : "unknown"}${status})`,
    {
      retryable: !isPermanent,
    },
  );
}
