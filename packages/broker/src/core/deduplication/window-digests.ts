/**
 * What a deduplication window holds of the texts of an entry: digests of a fixed size, with too many bits for two to collide by
 * chance. Nobody can make two ids collide, without the secret of their queue or topic. The group's digest need not resist
 * that: a sender gains nothing by a second name for a group that he could name directly.
 */

import type { KeptWindowEntry, WindowDigests, WindowKey } from '../changes.ts';
import { firstWordOfHex } from '../digest/hex.ts';
import { KeyedDigest } from '../digest/keyed-digest.ts';

/** The texts of an entry that matter here. */
type Texts = Pick<KeptWindowEntry, 'deduplicationId' | 'groupId' | 'bodyMd5' | 'attributesMd5'>;

/** Of the windows of one queue or topic. */
export class WindowDigester {
  readonly #ids: KeyedDigest;

  constructor(secret: string) {
    this.#ids = KeyedDigest.withSecret(secret);
  }

  of(entry: Texts): WindowDigests {
    const digests = {
      id0: 0,
      id1: 0,
      id2: 0,
      id3: 0,
      group0: 0,
      group1: 0,
      group2: 0,
      body: firstWordOfHex(entry.bodyMd5),
      attributes: firstWordOfHex(entry.attributesMd5),
    };
    this.#ids.write(entry.deduplicationId, digests);
    setGroup(digests, entry.groupId);
    return digests;
  }

  /** The key by which an id, or a body's hash, in a group is found. */
  keyOf(text: string, groupId: string): WindowKey {
    return this.of({ deduplicationId: text, groupId, bodyMd5: '', attributesMd5: '' });
  }
}

interface GroupDigest {
  group0: number;
  group1: number;
  group2: number;
}

export function groupDigest(groupId: string): Readonly<GroupDigest> {
  const digest: GroupDigest = { group0: 0, group1: 0, group2: 0 };
  setGroup(digest, groupId);
  return digest;
}

/** Three independent 32-bit hashes in one pass, each multiplied and folded as in MurmurHash3's last step. */
function setGroup(digest: GroupDigest, groupId: string): void {
  let a = 0x9e3779b1;
  let b = 0x85ebca77;
  let c = 0xc2b2ae3d;
  for (let at = 0; at < groupId.length; at += 1) {
    const code = groupId.charCodeAt(at);
    a = Math.imul(a ^ code, 0x27d4eb2f) + (b >>> 15);
    b = Math.imul(b ^ code, 0x165667b1) + (c >>> 13);
    c = Math.imul(c ^ code, 0x5bd1e995) + (a >>> 11);
  }
  digest.group0 = fold(a ^ groupId.length);
  digest.group1 = fold(b);
  digest.group2 = fold(c);
}

function fold(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const again = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return again ^ (again >>> 16);
}
