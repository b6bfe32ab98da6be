import { isIP } from "node:net";
import { createTransport } from "nodemailer";
import { MailError } from "../../domain/errors.ts";
import type { MailOut } from "../../ports/mail-out.ts";

const CONNECTIONS_MAX = 4;
const CONNECT_MS_MAX = 10_000;
const GREETING_MS_MAX = 10_000;
/** A server that says nothing for so long in the middle of a letter has gone. */
const SILENCE_MS_MAX = 20_000;
const IDLE_MS_MAX = 30_000;

/**
 * Mail by SMTP. Away from this machine the connection is encrypted and the server's certificate checked, or nothing is
 * sent: the letters hold links that open accounts. `?ignoreTLS=true` in the URL says otherwise, for a relay in one's own
 * network.
 *
 * @param options.url   `smtp://` (STARTTLS) or `smtps://`, with user and password where the server wants some
 * @param options.from  the sender, `address` or `Name <address>`
 */
export function createSmtpMail(options: { readonly url: string; readonly from: string }): MailOut {
  const url = new URL(options.url);
  const isOptedOut = url.searchParams.get("ignoreTLS") === "true";
  const transport = createTransport({
    url: options.url,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    // A lost connection is this caller's to judge, who knows how often to try.
    maxRequeues: 0,
    connectionTimeout: CONNECT_MS_MAX,
    greetingTimeout: GREETING_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    idleTimeout: IDLE_MS_MAX,
    requireTLS: url.protocol === "smtp:" && !isOptedOut && !isThisMachine(url.hostname),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // The pool also tells here what it tells the sender of the letter.
  transport.on("error", () => {});
  return {
    async send({ to, subject, text, html }) {
      try {
        await transport.sendMail({
          from: options.from,
          // As an object, so that no text in it is read as a list of addresses.
          to: { name: "", address: to },
          subject,
          text,
          html,
          headers: { "Auto-Submitted": "auto-generated" },
        });
      } catch (error) {
        throw toMailError(error);
      }
    },
    async close() {
      transport.close();
    },
  };
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Codes only: a server's words may repeat the mailbox, or what it was sent. */
function toMailError(error: unknown): MailError {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const status = typeof responseCode === "number" ? ` ${responseCode}` : "";
  // A wrong password is the operator's to mend, and no reason to give the letter up.
  const isFinal = code !== "EAUTH" && typeof responseCode === "number" && responseCode >= 500 && responseCode < 600;
  return new MailError(
    `The mail server did not take a letter (${typeof code === "string" ? code : "unknown"}${status})`,
    {
      retryable: !isFinal,
    },
  );
}
