import type { AddressInfo } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";

export interface ReceivedMail extends Email {
  readonly recipients: readonly string[];
  readonly raw: string;
  /** Whether the e-mail was received over TLS. */
  readonly wasEncrypted: boolean;
}

/** An SMTP server on loopback that stores the e-mails it receives. */
export interface Mailbox {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Rejects the next `times` e-mails with this SMTP status. */
  refuse(status: number, times?: number): void;
  /** Waits until `count` e-mails have been received, and returns all of them. */
  received(count: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

/**
 * @param options.tls       "none", "starttls" or "implicit" (TLS from the first byte); the
 *   certificate is self-signed
 * @param options.password  of the user `postmaster`; if omitted, no authentication is required
 */
export async function openMailbox(
  options: { readonly tls?: "none" | "starttls" | "implicit"; readonly password?: string } = {},
): Promise<Mailbox> {
  const { tls = "none", password } = options;
  const mails: ReceivedMail[] = [];
  const refusalStatuses: number[] = [];
  const waiters: { readonly count: number; resolve(): void }[] = [];
  const createRefusal = (status: number) => Object.assign(new Error("refused"), { responseCode: status });
  const server = new SMTPServer({
    secure: tls === "implicit",
    hideSTARTTLS: tls !== "starttls",
    authOptional: password === undefined,
    allowInsecureAuth: true,
    disabledCommands: tls === "none" ? ["STARTTLS"] : [],
    onAuth(auth, _session, done) {
      if (auth.username === "postmaster" && auth.password === password) done(null, { user: "postmaster" });
      else done(createRefusal(535));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const status = refusalStatuses.shift();
        if (status !== undefined) return done(createRefusal(status));
        const raw = Buffer.concat(chunks).toString("utf8");
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        void PostalMime.parse(raw).then((mail) => {
          mails.push({ ...mail, recipients, raw, wasEncrypted: session.secure });
          done(null);
          for (const waiter of waiters) if (mails.length >= waiter.count) waiter.resolve();
        });
      });
    },
  });
  // Some tests expect clients to reject the certificate and disconnect.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    refuse(status, times = 1) {
      for (let i = 0; i < times; i++) refusalStatuses.push(status);
    },
    async received(count) {
      if (mails.length < count) await new Promise<void>((resolve) => waiters.push({ count, resolve }));
      return mails;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
