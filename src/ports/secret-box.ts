/** Encrypts secrets for storage, and decrypts them. */
export interface SecretBox {
  /**
   * @param owner  identifies the row that will contain the secret; `open` needs the same text
   * @returns the sealed secret as text
   */
  seal(secret: string, owner: string): string;
  /** @throws SecretSealError if the text was sealed with another key, for another owner, or was changed */
  open(sealed: string, owner: string): string;
}

export class SecretSealError extends Error {
  override name = "SecretSealError";
}
