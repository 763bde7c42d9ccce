/**
 * Finds sends to FIFO queues and topics that bypass a defined producer in TypeScript and JavaScript source: AWS SDK
 * commands and methods that send, and producers of sqs-producer. A send counts as FIFO if its argument mentions a message
 * group or `.fifo`, or, where the argument is not a plain literal, if the file does.
 *
 * Also finds producers that are defined where `oncemq verify` does not look for them.
 */

import { type Finding, finding } from '../compliance/findings.ts';
import { argumentAt, lineAt, withoutComments } from './source-text.ts';

const sendCommands = [
  'SendMessageCommand',
  'SendMessageBatchCommand',
  'PublishCommand',
  'PublishBatchCommand',
];
const sendMethods = 'sendMessage|sendMessageBatch|publish|publishBatch';
const awsModule = /["'](?:@aws-sdk\/client-(?:sqs|sns)|aws-sdk(?:\/[\w/-]+)?|sqs-producer)["']/;
const fifoSign = /MessageGroupId|groupId|\.fifo\b/;

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export const sourceForm: RegExp = /\.[mc]?[jt]sx?$/;
const producerModule = /\.producer\.[mc]?[jt]s$/;
/** Tests may send anything; declaration files send nothing. */
const leftOut = /\.(test|spec)\.[mc]?[jt]sx?$|(^|\/)__tests__\/|\.d\.[mc]?ts$/;

export function findBypasses({ path, text }: SourceFile): Finding[] {
  if (!sourceForm.test(path) || leftOut.test(path)) return [];
  const source = withoutComments(text);
  return [...hiddenProducers(path, source), ...sends(source)].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0),
  );
}

function hiddenProducers(path: string, source: string): Finding[] {
  if (producerModule.test(path) || !source.includes('@oncemq/toolkit')) return [];
  return [...source.matchAll(/\bdefineProducer\s*(?:<[^(]{0,500}>)?\s*\(/g)].map(({ index }) => ({
    ...finding('producer-hidden'),
    line: lineAt(source, index),
  }));
}

function sends(source: string): Finding[] {
  if (!awsModule.test(source)) return [];
  const names = [...sendCommands, ...aliases(source)].join('|');
  const forms = [
    new RegExp(`\\bnew\\s+(?:[\\w$]+\\s*\\.\\s*)?(${names})\\s*\\(`, 'g'),
    new RegExp(`\\.\\s*(${sendMethods})\\s*\\(`, 'g'),
    ...(source.includes('sqs-producer') ? [/\b(Producer\.create)\s*\(/g] : []),
  ];
  // Computed once, since a file may contain many sends.
  const isFifoFile = fifoSign.test(source);
  return forms.flatMap((form) =>
    [...source.matchAll(form)].flatMap((match) => {
      const [whole, name = ''] = match;
      const given = argumentAt(source, match.index + whole.length - 1);
      // A complete object literal is judged by itself; any other argument, or one without an end, by its file.
      const isWrittenOut = given !== undefined && /^\s*\{/.test(given) && !given.includes('...');
      if (!(isWrittenOut ? fifoSign.test(given) : isFifoFile)) return [];
      return [
        { ...finding('send-bypasses-producer', { name }), line: lineAt(source, match.index) },
      ];
    }),
  );
}

/** Local aliases of the commands: `SendMessageCommand as Send`, `SendMessageCommand: Send`. */
function aliases(source: string): string[] {
  const form = new RegExp(`\\b(?:${sendCommands.join('|')})\\s*(?:as\\s|:)\\s*([\\w$]+)`, 'g');
  return [...source.matchAll(form)].map(([, alias = '']) => alias.replace(/\$/g, '\\$&'));
}
