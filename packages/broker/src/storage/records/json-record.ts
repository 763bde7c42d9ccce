/**
 * Records that are rare, or never read in large numbers, are JSON. Bytes (binary attributes of a publication) are base64 under
 * a key that no other value has.
 */

import { DamagedError } from './bytes.ts';

const bytesKey = '$bytes';

export function jsonOf(value: unknown): Buffer {
  // Not an arrow function: `given` is what a Buffer's toJSON returned; the Buffer itself is in `this`.
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, given: unknown) {
    const original = this[key];
    return original instanceof Uint8Array
      ? { [bytesKey]: Buffer.from(original).toString('base64') }
      : given;
  });
  return Buffer.from(text, 'utf8');
}

export function jsonIn<T>(bytes: Buffer, what: string): T {
  try {
    return JSON.parse(bytes.toString('utf8', 0, bytes.length), (_, value: unknown) =>
      isBytes(value) ? new Uint8Array(Buffer.from(value[bytesKey], 'base64')) : value,
    ) as T;
  } catch {
    throw new DamagedError(`a ${what} cannot be read`);
  }
}

function isBytes(value: unknown): value is { [bytesKey]: string } {
  return typeof value === 'object' && value !== null && bytesKey in value;
}
