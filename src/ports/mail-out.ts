/** One letter to one mailbox. */
export interface OutgoingMail {
  /** An address in canonical form. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same, for readers who want it dressed. */
  readonly html: string;
}

/** Letters out, through the server that the operator named. */
export interface MailOut {
  /** Resolves once the server has taken the letter. @throws MailError */
  send(mail: OutgoingMail): Promise<void>;
  close(): Promise<void>;
}
