/**
 * Encodes one event for the stream: `id`, `event` and one line of JSON (server-sent events, HTML Standard 9.2.5). The
 * content of messages is left out or, if bodies are wanted, truncated: one large message must not fill a reader's buffer.
 */

import type { MessageAttribute } from '../../core/changes.ts';
import type { Event } from '../../core/events.ts';
import { shownAttributes } from './contents.ts';
import { envelopeIds } from './envelope-ids.ts';

/** The maximum characters shown of a body and of an attribute's value. */
export const shownCharactersMax = 4_096;

export function eventFrame(id: number, event: Event, hasBodies: boolean): Buffer {
  const data = JSON.stringify(shownEvent(event, hasBodies));
  return Buffer.from(`id: ${id}\nevent: ${event.type}\ndata: ${data}\n\n`);
}

function shownEvent(event: Event, hasBodies: boolean): object {
  switch (event.type) {
    case 'sent':
    case 'duplicate': {
      const { content, ...others } = event;
      return { ...others, ...shownBody(content.body, content.attributes, hasBodies) };
    }
    case 'published': {
      const { publication, ...others } = event;
      return { ...others, ...shownBody(publication.message, publication.attributes, hasBodies) };
    }
    case 'duplicate-publication':
    case 'publication-violation': {
      const { message, ...others } = event;
      return { ...others, ...shownBody(message, [], hasBodies) };
    }
    case 'contract-violation': {
      const { body, ...others } = event;
      return { ...others, ...shownBody(body, [], hasBodies) };
    }
    default:
      return event;
  }
}

function shownBody(
  body: string,
  attributes: readonly MessageAttribute[],
  hasBodies: boolean,
): object {
  const { eventId, dedupeKey } = envelopeIds(body) ?? {};
  const about = { bodyBytes: Buffer.byteLength(body), eventId, dedupeKey };
  if (!hasBodies) return about;
  const isCut = body.length > shownCharactersMax;
  return {
    ...about,
    body: isCut ? body.slice(0, shownCharactersMax) : body,
    ...(isCut && { bodyCut: true }),
    attributes: shownAttributes(attributes).map(({ value, ...others }) => ({
      ...others,
      value: value.slice(0, shownCharactersMax),
    })),
  };
}
