/**
 * The contract file of a server (`--contract`). The toolkit reads and judges; here its errors become errors of the
 * configuration.
 */

import { type Contract, ContractFileError, readContract } from '@oncemq/toolkit';
import { ConfigError } from '../config/config-error.ts';

export function contractIn(file: string): Contract {
  try {
    return readContract(file);
  } catch (error) {
    if (!(error instanceof ContractFileError)) throw error;
    throw new ConfigError(error.message, { cause: error });
  }
}
