/**
 * What messages say, as the `/_oncemq/` endpoints show it: attributes with their bytes as base64, bodies whole or cut to
 * what a person can look at.
 */

import type { MessageAttribute } from '../../core/changes.ts';
import { base64 } from '../../core/digest.ts';
import { rememberedBodyCharsMax } from '../../storage/backend.ts';

export interface ShownContent {
  readonly body: string;
  /** The characters of the whole body, which may be more than are shown. */
  readonly bodyLength: number;
  readonly attributes: readonly ShownAttribute[];
}

export interface ShownAttribute {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

/** A body that is kept whole is cut like one that is remembered: the two are compared. */
export function shownContent(content: {
  readonly body: string;
  readonly bodyLength?: number;
  readonly attributes: readonly MessageAttribute[];
}): ShownContent {
  const { body, bodyLength = body.length, attributes } = content;
  return {
    body: body.slice(0, rememberedBodyCharsMax),
    bodyLength,
    attributes: shownAttributes(attributes),
  };
}

export function shownAttributes(attributes: readonly MessageAttribute[]): ShownAttribute[] {
  return attributes.map(({ name, type, value }) => ({
    name,
    type,
    value: typeof value === 'string' ? value : base64(value),
  }));
}
