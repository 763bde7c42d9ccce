/**
 * Whether this process is the child that reads a data directory for another one (in-child.ts). Apart from there, since every
 * command asks, and only those that read data directories load LMDB.
 */

export const childEnvironment = { ONCEMQ_IS_CHILD: 'true' } as const;

export const isChild: boolean = process.env['ONCEMQ_IS_CHILD'] === 'true';
