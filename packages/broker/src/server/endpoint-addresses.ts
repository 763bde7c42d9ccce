/**
 * Which addresses topics may call on a server that checks signatures. Whoever may subscribe can choose a URL, and the server
 * could reach what its clients cannot: itself, its neighbors, the metadata service of its cloud. So addresses that are not
 * public are refused unless `--allow-endpoints` names them: when a URL with such an address is subscribed, and for names with
 * every call. A connection goes to the very address that was checked, so a name that resolves to another one a moment later
 * gains nothing.
 */

import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Everything that IANA lists as not globally reachable, and multicast. Addresses of IPv4 written as IPv6 are found too. */
const reservedRanges: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Unspecified, loopback and the old form of IPv4 addresses.
  '::/96',
  // Translated to IPv4, whatever address that is.
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

const hostName = /^[\w-]+(\.[\w-]+)*\.?$/;
const prefixLengthMax = { 4: 32, 6: 128 } as const;

/** Why an entry of `--allow-endpoints` is not valid; undefined if it is. */
export function endpointProblem(entry: string): string | undefined {
  const [address = '', length, ...rest] = entry.split('/');
  const version = isIP(address);
  if (length === undefined) {
    const isName = hostName.test(entry) && !/^[\d.]+$/.test(entry);
    return isName || version !== 0 ? undefined : `${entry} is neither an address nor a host name.`;
  }
  // An empty length would be taken for 0, which is every address.
  const isRange =
    version !== 0 &&
    rest.length === 0 &&
    /^\d{1,3}$/.test(length) &&
    Number(length) <= prefixLengthMax[version as 4 | 6];
  return isRange ? undefined : `${entry} is no range of addresses.`;
}

export class EndpointAddresses {
  readonly #reserved: BlockList = listOf(reservedRanges);
  readonly #allowed: BlockList;
  readonly #allowedNames: ReadonlySet<string>;

  /** Addresses, ranges and host names, as `--allow-endpoints` gives them. */
  constructor(allowed: readonly string[]) {
    const isAddress = (entry: string): boolean => isIP(entry.split('/')[0] as string) !== 0;
    this.#allowed = listOf(allowed.filter(isAddress));
    this.#allowedNames = new Set(
      allowed.filter((entry) => !isAddress(entry)).map((name) => name.toLowerCase()),
    );
  }

  /** Why a URL may not be called, as far as that can be seen without resolving its host; undefined if it may. */
  problemOf(url: string): string | undefined {
    if (!URL.canParse(url)) return undefined;
    const host = hostOf(url);
    return isIP(host) === 0 || this.#mayCall(host) ? undefined : refusalText(host);
  }

  /** For `http.request`: resolves a name to those of its addresses that may be called. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const isAllowed = this.#allowedNames.has(name.toLowerCase());
      const addresses = found.filter(({ address }) => isAllowed || this.#mayCall(address));
      const [first] = addresses;
      if (first === undefined) {
        callback(new RefusedAddress(`${name} is ${addressesText(found)}. ${hint}`), '');
      } else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

  #mayCall(address: string): boolean {
    if (has(this.#allowed, address)) return true;
    return !has(this.#reserved, address) && !isOfThisMachine(address);
  }
}

/** A name has no address that may be called. */
export class RefusedAddress extends Error {}

const hint = 'Such addresses may be called only if --allow-endpoints names them.';

function refusalText(address: string): string {
  return `${address} is not a public address. ${hint}`;
}

function addressesText(found: readonly LookupAddress[]): string {
  const shown = found.slice(0, 3).map(({ address }) => address);
  return `${shown.join(', ')}, not a public address`;
}

/** Without the brackets of an IPv6 address. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

function listOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', length] = entry.split('/');
    const family = familyOf(address);
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
}

function has(list: BlockList, address: string): boolean {
  // A zone (`fe80::1%eth0`) is not part of the address.
  const [bare = ''] = address.split('%');
  return list.check(bare, familyOf(bare));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** A machine may have public addresses too, and its services may trust what comes from itself. */
function isOfThisMachine(address: string): boolean {
  const own = new BlockList();
  for (const { address: each } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
    own.addAddress(each, familyOf(each));
  }
  return has(own, address);
}
