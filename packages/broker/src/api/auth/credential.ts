/**
 * A key that callers sign with. The secret is a private field: whatever prints a configuration, as JSON or in an error,
 * does not see it.
 */

export interface CredentialParts {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** What its messages carry as SenderId; default: the account. */
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
