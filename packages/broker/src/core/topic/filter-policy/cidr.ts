/**
 * Networks in filter policies: `10.0.0.0/24`, `2001:db8::/32` (11.3). An address is inside if its first bits are the
 * network's; a text that is no address is inside nothing.
 */

import type { Wrong } from './condition.ts';

/** Four or sixteen bytes. */
export type Address = readonly number[];

export function readCidr(text: string): ((address: Address) => boolean) | Wrong {
  const parts = text.split('/');
  if (parts.length !== 2) return { wrong: "Malformed CIDR, one '/' required" };
  const [address, bitsText] = parts as [string, string];
  if (!/^\d{1,3}$/.test(bitsText)) return { wrong: 'Malformed CIDR, mask bits must be an integer' };
  const network = readAddress(address);
  if (network === undefined) return { wrong: `Nonstandard IP address: ${address}` };
  const bits = Number(bitsText);
  if (bits > network.length * 8) {
    return { wrong: `Malformed CIDR, mask bits must not exceed ${network.length * 8}` };
  }
  return (bytes) => bytes.length === network.length && isPrefix(network, bytes, bits);
}

function isPrefix(network: Address, bytes: Address, bits: number): boolean {
  const whole = bits >> 3;
  for (let at = 0; at < whole; at += 1) if (network[at] !== bytes[at]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((network[whole] as number) & mask) === ((bytes[whole] as number) & mask);
}

/** The longest address has eight groups, the last two as an IPv4 address. */
const addressLengthMax = 45;

/** Undefined for a text that is no address. */
export function readAddress(text: string): Address | undefined {
  if (text.length > addressLengthMax) return undefined;
  return text.includes(':') ? ipv6Bytes(text) : ipv4Bytes(text);
}

function ipv4Bytes(text: string): number[] | undefined {
  const parts = text.split('.');
  const isAddress =
    parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
  return isAddress ? parts.map(Number) : undefined;
}

function ipv6Bytes(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(groupBytes) as [number[] | undefined, number[] | undefined];
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (tail === undefined) return head.length === 16 ? head : undefined;
  const missing = 16 - head.length - tail.length;
  return missing < 2 ? undefined : [...head, ...Array<number>(missing).fill(0), ...tail];
}

/** The bytes of `2001:db8`, of nothing, or of a tail that is an IPv4 address. */
function groupBytes(text: string): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [at, group] of groups.entries()) {
    const embedded = at === groups.length - 1 && group.includes('.') ? ipv4Bytes(group) : undefined;
    if (embedded !== undefined) bytes.push(...embedded);
    else if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    } else return undefined;
  }
  return bytes;
}
