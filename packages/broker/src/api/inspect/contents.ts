/**
 * What messages say, as the `/_oncemq/` endpoints show it: attributes with their bytes as base64, bodies whole or cut to
 * what a person can look at.
 */

import type { MessageAttribute } from '../../core/changes.ts';

/** What is shown of a body where many may be shown at once. */
const bodyCharsMax = 16 * 1024;

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

export function shownContent(content: {
  readonly body: string;
  readonly bodyLength?: number;
  readonly attributes: readonly MessageAttribute[];
}): ShownContent {
  const { body, bodyLength = body.length, attributes } = content;
  return { body: body.slice(0, bodyCharsMax), bodyLength, attributes: shownAttributes(attributes) };
}

export function shownAttributes(attributes: readonly MessageAttribute[]): ShownAttribute[] {
  return attributes.map(({ name, type, value }) => ({
    name,
    type,
    value: typeof value === 'string' ? value : Buffer.from(value).toString('base64'),
  }));
}
