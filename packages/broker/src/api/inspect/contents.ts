/**
 * The content of messages as the `/_oncemq/` endpoints show it: binary attributes in base64, bodies whole or truncated to
 * a readable length.
 */

import type { MessageAttribute } from '../../core/changes.ts';
import { base64 } from '../../core/digest/digests.ts';
import { rememberedBodyCharsMax } from '../../storage/backend.ts';

export interface ShownContent {
  readonly body: string;
  /** The length of the whole body in characters, which may be more than are shown. */
  readonly bodyLength: number;
  readonly attributes: readonly ShownAttribute[];
}

export interface ShownAttribute {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

/** Truncates every body to the length that is remembered, so that kept and remembered bodies can be compared. */
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
