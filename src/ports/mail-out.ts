/** An e-mail to one recipient. */
export interface OutgoingMail {
  /** An address in canonical form. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same content as HTML. */
  readonly html: string;
}

/** Outgoing e-mail through the configured server. */
export interface MailOut {
  /** Resolves when the server has accepted the e-mail. @throws MailError */
  send(mail: OutgoingMail): Promise<void>;
  close(): Promise<void>;
}
