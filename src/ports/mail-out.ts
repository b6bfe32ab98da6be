export interface OutgoingMail {
  /** An e-mail address in canonical form. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The content of `text` as HTML. */
  readonly html: string;
}

/** Outgoing e-mail through the configured server. */
export interface MailOut {
  /** Resolves when the server has accepted the e-mail. @throws MailError */
  send(mail: OutgoingMail): Promise<void>;
  close(): Promise<void>;
}
