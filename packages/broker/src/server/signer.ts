/**
 * Signs what standard topics send (SNS 9.4). The key lives as long as the process; its self-signed certificate is served so
 * that receivers can verify signatures. It is generated beside the first work of the process, since that takes a tenth of
 * a second; what is to be signed before then has to wait for it.
 *
 * Node cannot create certificates. A certificate is a few nested DER records, and this file encodes only those.
 */

import {
  createSign,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomBytes,
} from 'node:crypto';
import type { Signer } from '../core/topic/envelope.ts';

/** A signer with its certificate. */
export interface CertifiedSigner extends Signer {
  certificate(): string;
}

interface Pair {
  readonly key: KeyObject;
  readonly certificate: string;
}

/** One per process. */
let pair: Pair | undefined;
let isBegun = false;
const options = { modulusLength: 2048 };

export function createSigner(): CertifiedSigner {
  if (!isBegun) {
    isBegun = true;
    generateKeyPair('rsa', options, (error, publicKey, privateKey) => {
      // Should it fail, the first use fails too, and says why.
      if (error === null) pair ??= certified({ publicKey, privateKey });
    });
  }
  return {
    certificatePath: '/_oncemq/signing-certificate.pem',
    certificate: () => pairOf().certificate,
    sign: (text, version) =>
      createSign(version === '2' ? 'RSA-SHA256' : 'RSA-SHA1')
        .update(text, 'utf8')
        .sign(pairOf().key, 'base64'),
  };
}

function pairOf(): Pair {
  pair ??= certified(generateKeyPairSync('rsa', options));
  return pair;
}

function certified({ privateKey, publicKey }: KeyPairKeyObjectResult): Pair {
  return { key: privateKey, certificate: certificateFor(privateKey, publicKey) };
}

// The DER types (X.690) that a certificate (RFC 5280) consists of.
const integerTag = 0x02;
const bitStringTag = 0x03;
const nullTag = 0x05;
const nameTag = 0x06;
const textTag = 0x0c;
const timeTag = 0x18;
const sequenceTag = 0x30;
const setTag = 0x31;
const versionTag = 0xa0;

/** sha256WithRSAEncryption, 1.2.840.113549.1.1.11. */
const signatureName = Buffer.from('2a864886f70d01010b', 'hex');
/** commonName, 2.5.4.3. */
const commonName = Buffer.from('550403', 'hex');
const bornAt = '20200101000000Z';
const endsAt = '20991231235959Z';

function certificateFor(key: KeyObject, publicKey: KeyObject): string {
  const algorithm = der(sequenceTag, der(nameTag, signatureName), der(nullTag));
  const subject = der(
    sequenceTag,
    der(setTag, der(sequenceTag, der(nameTag, commonName), der(textTag, Buffer.from('oncemq')))),
  );
  const content = der(
    sequenceTag,
    der(versionTag, der(integerTag, Buffer.of(2))),
    // Positive and without leading zeros: the first byte is from 64 to 127.
    der(integerTag, Buffer.of(64 + (randomBytes(1)[0] as number) / 4), randomBytes(15)),
    algorithm,
    subject,
    der(sequenceTag, der(timeTag, Buffer.from(bornAt)), der(timeTag, Buffer.from(endsAt))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = createSign('RSA-SHA256').update(content).sign(key);
  const whole = der(sequenceTag, content, algorithm, der(bitStringTag, Buffer.of(0), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** One record: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}
