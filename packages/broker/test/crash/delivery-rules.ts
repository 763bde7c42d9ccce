/**
 * Rules about which messages exist: every answered send is delivered and ends with a delete, nothing comes back after
 * that, a FIFO message sent again is still one message, and nothing is made up.
 */

import { deletableFrom, deletedAt, type Lives, type Message, type Sent } from './lives.ts';

/** A duplicate answered as another message is a wrong answer but no loss, as long as the one message is delivered. */
export function lost({ sent }: Lives): string[] {
  return sent
    .filter((each) => each.delivered.length === 0 || !isOneMessage(each))
    .flatMap(({ answered }) => answered.filter(({ deliveries }) => deliveries.length === 0))
    .map((message) => `${name(message)} was answered and never delivered`);
}

export function vanished({ messages }: Lives): string[] {
  return messages
    .filter((message) => message.deliveries.length > 0 && deletableFrom(message) === Infinity)
    .map((message) => `${name(message)} was delivered, never deleted, and is gone`);
}

export function left({ left: counts }: Lives): string[] {
  return counts
    .filter(({ count }) => count > 0)
    .map(({ queue, count }) => `${count} messages are left in ${queue} after the drain`);
}

/** Only for receives that began after the delete was answered: an earlier one may have been first. */
export function undead({ messages }: Lives): string[] {
  return messages.flatMap((message) => {
    const gone = deletedAt(message);
    return message.deliveries
      .filter(({ receive }) => receive.from > gone)
      .map(({ receive }) => {
        const late = (receive.from - gone).toFixed(0);
        return `${name(message)} was delivered by a receive begun ${late} ms after its delete was answered`;
      });
  });
}

export function duplicateAnswered({ sent }: Lives): string[] {
  return sent
    .filter((each) => isOneMessage(each) && each.answered.length > 1)
    .map(({ answered }) => `${answered.map(name).join(' was answered again as ')}`);
}

/** Also if no send was ever answered: an unanswered one was kept or not, but any number of tries makes one message. */
export function secondMessage({ sent }: Lives): string[] {
  return sent
    .filter((each) => {
      const ofAnswer = each.answered[0] ?? each.delivered[0];
      return isOneMessage(each) && each.delivered.some((message) => message !== ofAnswer);
    })
    .map(({ answered, delivered, body }) => {
      const answers = answered.map(name).join(', ') || 'nobody';
      return `${body} was delivered as ${delivered.map(name).join(', ')} and answered as ${answers}`;
    });
}

export function invented({ messages, sentAs }: Lives): string[] {
  return messages.flatMap((message) => {
    const sent = sentAs(message.queue.queue, message.body);
    const first = message.deliveries[0]?.receive.to ?? Infinity;
    if (sent === undefined) return [`${name(message)} was delivered and never sent`];
    if (sent.group !== message.group) return [`${name(message)} was sent to group ${sent.group}`];
    const isEarly = sent.sends.every(({ from }) => from > first);
    return isEarly ? [`${name(message)} was delivered before it was sent`] : [];
  });
}

/** Whatever happens to the server, the requests of a run are valid, and its queues exist. */
export function refused({ sends, publications, receives }: Lives): string[] {
  return [...sends, ...publications, ...receives].flatMap((entry) => {
    if (entry.outcome !== 'refused') return [];
    const where = entry.type === 'publish' ? `"${entry.body}"` : entry.queue;
    return [`a ${entry.type} on ${where} got ${entry.code}`];
  });
}

/** The name of a message in a violation's text. */
export function name({ body, id, sequence, queue, group }: Message): string {
  const place = group === undefined ? queue.queue : `${queue.queue}/${group}`;
  return `"${body}" (${place}, ${id}${sequence === '' ? '' : `, ${sequence}`})`;
}

/** Whether it was sent once, or all its sends fall into one window, so that the server must treat them as one. */
function isOneMessage({ queue, sends }: Sent): boolean {
  if (sends.length === 1) return true;
  const begun = Math.min(...sends.map(({ from }) => from));
  return Math.max(...sends.map(({ to }) => to)) - begun < queue.windowMs;
}
