/**
 * The keys that requests may be signed with: a list in the config file or the options, and one pair in the environment.
 * There is no flag for them, because other users of the machine can see flags. An error names the position of a wrong key,
 * never its secret.
 */

import { nearestName } from '@oncemq/toolkit/nearest-name';
import { Credential } from '../../api/auth/credential.ts';
import { ConfigError } from './config-error.ts';

/** One key, as written in a config file. */
export interface CredentialConfig {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Must be the server's account: it has only one. */
  readonly account?: string;
  /** The SenderId of messages sent with this key; default: the account. */
  readonly name?: string;
}

const credentialsMax = 1000;
const secretLengthMax = 256;
const keys = ['accessKeyId', 'secretAccessKey', 'account', 'name'];
/** No slash, which would end it in a credential scope, and no colon, which would end it in HTTP Basic. */
const accessKeyForm = /^[\w-]{1,128}$/;
const nameForm = /^[\w.:@/+=-]{1,128}$/;

const idVariable = 'ONCEMQ_ACCESS_KEY_ID';
const secretVariable = 'ONCEMQ_SECRET_ACCESS_KEY';

/** Variables that do not correspond to a setting. */
export const credentialVariables: readonly string[] = [idVariable, secretVariable];

/** The pair in the environment, as a list like that of a config file. */
export function environmentCredentials(
  environment: Readonly<Record<string, string | undefined>>,
): readonly CredentialConfig[] {
  const { [idVariable]: accessKeyId, [secretVariable]: secretAccessKey } = environment;
  if (accessKeyId === undefined && secretAccessKey === undefined) return [];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new ConfigError(`${idVariable} and ${secretVariable} must be set together.`);
  }
  return [{ accessKeyId, secretAccessKey }];
}

/** Where a list comes from, for error messages, and the unchecked list. */
export type CredentialSource = readonly [where: string, list: unknown];

export function credentialsOf(
  sources: readonly CredentialSource[],
  account: string,
): readonly Credential[] {
  const found = new Map<string, Credential>();
  for (const [where, list] of sources) {
    if (!Array.isArray(list)) throw new ConfigError(`${where} must be a list.`);
    for (const [index, item] of list.entries()) {
      const credential = credentialOf(item, `${where}[${index}]`, account);
      if (found.has(credential.accessKeyId)) {
        const text = `the accessKeyId ${credential.accessKeyId} is already in use`;
        throw new ConfigError(`${where}[${index}]: ${text}.`);
      }
      if (found.size === credentialsMax) {
        throw new ConfigError(
          `${where}[${index}]: there can be at most ${credentialsMax} credentials.`,
        );
      }
      found.set(credential.accessKeyId, credential);
    }
  }
  return [...found.values()];
}

function credentialOf(item: unknown, where: string, ours: string): Credential {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw new ConfigError(`${where} must be an object with accessKeyId and secretAccessKey.`);
  }
  const unknown = Object.keys(item).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    const near = nearestName(unknown, keys);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    throw new ConfigError(`${where}: there is no setting ${unknown}.${hint}`);
  }
  const { accessKeyId, secretAccessKey, account = ours, name } = item as Record<string, unknown>;
  if (typeof accessKeyId !== 'string' || !accessKeyForm.test(accessKeyId)) {
    throw new ConfigError(`${where}: accessKeyId must be 1 to 128 letters, digits, _ or -.`);
  }
  const isSecret = typeof secretAccessKey === 'string' && secretAccessKey !== '';
  if (!isSecret || secretAccessKey.length > secretLengthMax) {
    throw new ConfigError(
      `${where}: secretAccessKey must be a string of 1 to ${secretLengthMax} characters.`,
    );
  }
  if (account !== ours) {
    throw new ConfigError(`${where}: the account must be that of the server, ${ours} (--account).`);
  }
  if (name !== undefined && !(typeof name === 'string' && nameForm.test(name))) {
    throw new ConfigError(`${where}: name must be 1 to 128 letters, digits, or . : @ / + = - _`);
  }
  return new Credential({ accessKeyId, secretAccessKey, name });
}
