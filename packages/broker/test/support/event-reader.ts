/**
 * A reader of `GET /_oncemq/events`, over plain HTTP: returns the events as they arrive, and says when the stream ends. It
 * reads only while a test waits for an event, so an unused reader is a slow one.
 */

export interface StreamedEvent {
  readonly id: number;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the event says; each test knows what it asks for.
  readonly data: any;
}

export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #controller: AbortController;
  #text = '';

  private constructor(response: Response, controller: AbortController) {
    const stream = response.body as ReadableStream<Uint8Array>;
    this.#reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    this.#controller = controller;
  }

  /** Resolves once the server has begun to write; from then on no event is missed. */
  static async open(url: string, query = ''): Promise<EventReader> {
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch(`${url}/_oncemq/events${query}`, { signal });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return new EventReader(response, controller);
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<StreamedEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const event = parsed(this.#text.slice(0, end));
        this.#text = this.#text.slice(end + 2);
        if (event !== undefined) return event;
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += value;
    }
  }

  async take(count: number): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the stream ended after ${events.length} events`);
      events.push(event);
    }
    return events;
  }

  close(): void {
    this.#controller.abort();
  }
}

/** Undefined for comments and the `retry` field, which are not events. */
function parsed(frame: string): StreamedEvent | undefined {
  const field = (name: string): string | undefined =>
    frame
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const type = field('event');
  if (type === undefined) return undefined;
  return { id: Number(field('id')), type, data: JSON.parse(field('data') ?? 'null') };
}
