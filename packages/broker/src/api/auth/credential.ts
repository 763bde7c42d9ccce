/**
 * A key that callers sign with. The secret is a private field, so that it does not appear when a configuration is printed,
 * as JSON or in an error.
 */

export interface CredentialParts {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The SenderId of messages sent with this key; default: the account. */
  readonly name?: string | undefined;
}

export class Credential {
  readonly accessKeyId: string;
  readonly name: string | undefined;
  readonly #secret: string;

  constructor({ accessKeyId, secretAccessKey, name }: CredentialParts) {
    this.accessKeyId = accessKeyId;
    this.name = name;
    this.#secret = secretAccessKey;
  }

  get secretAccessKey(): string {
    return this.#secret;
  }
}
