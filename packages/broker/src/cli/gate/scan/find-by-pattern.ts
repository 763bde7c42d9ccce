/**
 * Finds sends to FIFO queues and topics by the patterns of a language. A send counts as FIFO if its arguments name a group
 * or a name with `.fifo`, or, where the arguments do not say everything, if the file does.
 */

import type { Language } from './languages.ts';
import { argumentAt, lineAt, restOfLine, withoutComments } from './source-text.ts';

export interface FoundSend {
  readonly line: number;
  readonly name: string;
}

const fifoName = /\.fifo\b/;
/** As it is given, and not as it is read from what was received. */
const anyGroup = /\bMessageGroupId["']?\s*(?:=>|[=:,])|--message-group-id\b/;
const queryByHand =
  /\bAction["']?\s{0,9}(?:=>|[=:,])\s{0,9}["']?((?:SendMessage|Publish)(?:Batch)?)\b|\bAmazonSQS\.(SendMessage(?:Batch)?)\b/g;
/** As one text or as a list of texts. */
const commandLine =
  /\bsqs["'\s,\\]{1,20}(send-message(?:-batch)?)\b|\bsns["'\s,\\]{1,20}(publish(?:-batch)?)["'\s]/g;
/** Calls without an end that are read; a file with more is not one that people write. */
const unclosedMax = 50;
/** Far more than a file that people write has. */
const findingsMax = 100;

export function findByPattern(language: Language, text: string): FoundSend[] {
  const source = withoutComments(text, language.comments);
  const called = sendsIn(source, language.calls, language);
  if (called.length > 0) return called;
  // Built here and sent elsewhere.
  const built =
    language.requests === undefined ? [] : sendsIn(source, language.requests, language, true);
  return built.length > 0 ? built : withoutSdk(source, language);
}

/** In any language: a query or a target header that is written by hand; in a program: a command of the AWS CLI that it starts. */
function withoutSdk(source: string, { isProgram = true }: Language): FoundSend[] {
  if (!fifoName.test(source) && !anyGroup.test(source)) return [];
  const forms = isProgram ? [queryByHand, commandLine] : [queryByHand];
  return forms
    .flatMap((form) => [...source.matchAll(form)])
    .slice(0, findingsMax)
    .map((match) => ({
      line: lineAt(source, match.index),
      name: match.slice(1).find((name) => name !== undefined) ?? '',
    }));
}

function sendsIn(source: string, form: RegExp, language: Language, isRequest = false): FoundSend[] {
  const { group, sdk, line } = language;
  const found: FoundSend[] = [];
  let unclosed = 0;
  let [usesSdk, isFifoFile]: (boolean | undefined)[] = [];
  for (const match of source.matchAll(form)) {
    const name = (match[1] ?? match[2] ?? '').replace(/[\s\\]+/g, ' ');
    const end = match.index + match[0].length - (isRequest ? 1 : 0);
    const input =
      unclosed > unclosedMax
        ? undefined
        : isOpenCall(match[0])
          ? argumentAt(source, match.index + match[0].indexOf('('))
          : inputAt(source, end, line);
    if (input === undefined) unclosed += 1;
    const given = input ?? '';
    const namesGroup = group.test(given);
    usesSdk ??= sdk.test(source);
    if (!namesGroup && !usesSdk) continue;
    if (/^publish/i.test(name) && !namesGroup && !isTopic(source, match.index, given)) continue;
    const isOwn = namesGroup || fifoName.test(given);
    if (!isOwn && (isRequest || (input !== undefined && language.isWrittenOut(input)))) continue;
    isFifoFile ??= group.test(source) || fifoName.test(source);
    if (!isOwn && !isFifoFile) continue;
    found.push({ line: lineAt(source, match.index), name });
    if (found.length >= findingsMax) break;
  }
  return found;
}

/** A call that takes the name as its first argument: `getCommand('SendMessage', …)`. */
function isOpenCall(match: string): boolean {
  return match.includes('(') && !match.endsWith(')') && !match.endsWith('(');
}

/** The arguments after a call; undefined if it is not called there. */
function inputAt(source: string, end: number, line: RegExp | undefined): string | undefined {
  const open = /^(?:\s*<[^<>()]{0,200}>)?\s*[({]/.exec(source.slice(end, end + 300))?.[0];
  if (open !== undefined) return argumentAt(source, end + open.length - 1);
  return line === undefined ? undefined : restOfLine(source, end, line);
}

/** Much else publishes: the receiver is named like a topic, or the input is one of SNS. */
function isTopic(source: string, index: number, input: string): boolean {
  const before = /[\w$@>.-]*$/.exec(source.slice(Math.max(0, index - 100), index))?.[0] ?? '';
  return /sns|topic/i.test(before) || /Publish\w*(?:Request|Input)|[tT]opic_?[aA]rn/.test(input);
}
