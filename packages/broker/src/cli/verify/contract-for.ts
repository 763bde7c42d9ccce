/**
 * The contract that a command holds producers to: the file that `--contract` names, else the one found in the working
 * directory or above it, else the defaults; then what the flags add.
 */

import { resolve } from 'node:path';
import {
  type Contract,
  ContractFileError,
  defaultContract,
  findContract,
  readContract,
} from '@oncemq/toolkit';
import { type Arguments, UsageError } from '../usage.ts';

/** Flags that may be repeated. */
export const contractLists: readonly string[] = ['critical', 'harmless'];

export function contractFor(flags: Arguments['flags']): Contract {
  const file = contractFileFor(flags);
  const contract = file === undefined ? defaultContract : contractIn(file);
  return {
    ...contract,
    namespace: flags['namespace'] ?? contract.namespace,
    critical: [...contract.critical, ...namesIn(flags['critical'])],
    harmless: [...contract.harmless, ...namesIn(flags['harmless'])],
  };
}

function namesIn(list = ''): string[] {
  return list === '' ? [] : list.split(',');
}

/** The path of the contract file, which can be read; undefined if there is none. */
export function contractFileFor(flags: Arguments['flags'], from?: string): string | undefined {
  const named = flags['contract'];
  const file = named === undefined ? findContract(from) : resolve(named);
  // Its mistakes are reported here, before anything runs.
  if (file !== undefined) contractIn(file);
  return file;
}

function contractIn(file: string): Contract {
  try {
    return readContract(file);
  } catch (error) {
    if (!(error instanceof ContractFileError)) throw error;
    throw new UsageError(error.message);
  }
}
