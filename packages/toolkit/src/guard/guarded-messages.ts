/**
 * The messages in an AWS SDK command, for all four that send: SQS says MessageBody where SNS says Message, and batches
 * have lists. Other commands have no messages.
 */

export interface GuardedMessage {
  /** The entry's id in a batch. */
  readonly id: string | undefined;
  readonly body: string;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  /** Binary values as base64. */
  readonly attributes: Readonly<Record<string, string>>;
}

type Input = Readonly<Record<string, unknown>>;

const entriesOf: ReadonlyMap<string, (input: Input) => unknown> = new Map([
  ['SendMessageCommand', (input: Input): unknown => [input]],
  ['PublishCommand', (input) => [input]],
  ['SendMessageBatchCommand', ({ Entries }) => Entries],
  ['PublishBatchCommand', ({ PublishBatchRequestEntries }) => PublishBatchRequestEntries],
]);

export function messagesOf(
  commandName: string | undefined,
  input: object,
): { readonly target: string; readonly messages: readonly GuardedMessage[] } {
  // A publish may name its topic by TopicArn or TargetArn.
  const { QueueUrl, TopicArn, TargetArn } = input as Input;
  const entries = entriesOf.get(commandName ?? '')?.(input as Input);
  return {
    target: String(QueueUrl ?? TopicArn ?? TargetArn ?? ''),
    messages: Array.isArray(entries) ? entries.map((entry) => messageOf(entry as Input)) : [],
  };
}

/** The ids of the batch entries that were not accepted. */
export function failedIn(result: unknown): ReadonlySet<unknown> {
  const { output } = Object(result) as { output?: { Failed?: readonly { Id?: unknown }[] } };
  return new Set(output?.Failed?.map(({ Id }) => Id));
}

function messageOf(entry: Input): GuardedMessage {
  const text = (name: string): string | undefined => {
    const value = entry[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    id: text('Id'),
    body: text('MessageBody') ?? text('Message') ?? '',
    groupId: text('MessageGroupId'),
    deduplicationId: text('MessageDeduplicationId'),
    attributes: attributeTexts(entry['MessageAttributes']),
  };
}

function attributeTexts(attributes: unknown): Record<string, string> {
  if (typeof attributes !== 'object' || attributes === null) return {};
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, attribute]) => {
      // The SDK does not send undefined attributes.
      if (typeof attribute !== 'object' || attribute === null) return [];
      const { StringValue, BinaryValue } = attribute as Input;
      const value =
        StringValue ?? Buffer.from((BinaryValue ?? '') as Uint8Array).toString('base64');
      return [[name, String(value)]];
    }),
  );
}
