/**
 * The languages that are searched by patterns, one row each: how a send is written in it, what shows that the send is FIFO,
 * and when its input is written out completely, so that it can be judged by itself.
 */

import type { Comments } from './source-text.ts';

export interface Language {
  readonly name: string;
  readonly files: RegExp;
  readonly comments: Comments;
  /** What a file mentions that uses the AWS SDK. Without it, only a send that names its group is found. */
  readonly sdk: RegExp;
  /** A call that sends, up to its name, which is the first group. */
  readonly calls: RegExp;
  /** A request that is built, up to its opening bracket; reported if the file has no call. */
  readonly requests?: RegExp;
  /** How the group is named in an input. */
  readonly group: RegExp;
  /** Where the arguments are: in the brackets after the call, or also in the rest of the line. */
  readonly line?: RegExp;
  /** false for configuration and shells, whose own commands are their calls. */
  readonly isProgram?: boolean;
  /** Input that says everything, so that without a group it is not FIFO. */
  isWrittenOut(input: string): boolean;
}

const never = (): boolean => false;
const firstLineMax = 200;

const javaLike = {
  comments: 'slashes',
  sdk: /software\.amazon\.awssdk|com\.amazonaws|aws\.sdk\.kotlin|io\.awspring|springframework\.cloud\.aws|\b(?:Sqs|Sns)(?:Async)?(?:Client|Template)\b|\bAmazonS[QN]S/,
  calls:
    /(?:\.|::)\s*(sendMessage|sendMessageBatch|publish|publishBatch)\b|\b(?:sqs|sns|queueMessaging)Template\s*\.\s*(send|sendAsync|sendMany|convertAndSend)\b/gi,
  requests: /\b((?:SendMessage|Publish)(?:Batch)?Request(?:Entry)?)\s*(?:\.\s*builder\s*)?[({]/g,
  group: /\b(?:(?:with|set)?[mM]essageGroupId|(?:MESSAGE_GROUP_ID|SQS_GROUP_ID)(?:_HEADER)?)\b/,
  // v1 has sendMessage(url, body); everything else is a request, a builder or a block.
  isWrittenOut: (input: string) =>
    !/\bentries\s*\(\s*\w+\s*\)|\bentries\s*=\s*\w+\s*$/m.test(input) &&
    /builder\s*\(|->|\bnew\s+\w+Request\s*\(|^\s*[\w.$]+\s*,|=/.test(input),
} as const;

const common: readonly Language[] = [
  {
    name: 'Python',
    files: /\.(?:py|pyi|ipynb)$/,
    comments: 'python',
    sdk: /\b(?:boto3?|aioboto3|botocore|aiobotocore)\b/,
    calls:
      /(?:\.\s*|getattr\s*\([^(),]{1,80},\s*["'])(send_message|send_messages|send_message_batch|publish|publish_batch)\b(?:["'][ \t]*\))?|\b_make_api_call\(\s*["'](SendMessage|SendMessageBatch|Publish|PublishBatch)\b|\b(SqsPublishOperator|SnsPublishOperator|SqsQueue)(?=\s*\()/g,
    // Whatever is called with a group, if nothing in the file is called like a send: a wrapper, or a name computed before.
    requests: /\b(\w{1,80})\s{0,9}\((?=[^()]{0,500}\bMessageGroupId\s*=(?!=))/g,
    // As it is given, not as it is read from what was received: `attributes['MessageGroupId']`.
    group:
      /\b(?:MessageGroupId|message_group_id)\s*=(?!=)|["']MessageGroupId["']\s*(?:[:,]|\]\s*=(?!=))/,
    isWrittenOut: (input) =>
      !/\*\*/.test(input) &&
      !/\bEntries\s*=\s*(?!\[\s*\{)|RequestEntries\s*=\s*(?!\[\s*\{)/.test(input),
  },
  {
    name: 'Go',
    files: /\.go$/,
    comments: 'slashes',
    sdk: /github\.com\/aws\/aws-sdk-go/,
    calls:
      /\.\s*(SendMessage|SendMessageBatch|Publish|PublishBatch)(?:WithContext|Request)?(?=\s*\()/g,
    requests: /\b((?:SendMessage|Publish)(?:Batch)?(?:Input|RequestEntry))\s*\{/g,
    group: /\b(?:Set)?MessageGroupId\b/,
    isWrittenOut: (input) =>
      /(?:Input|Entry)\s*\{/.test(input) && !/Entries\s*:\s*\w+\s*[,}\n]/.test(input),
  },
  { name: 'Java', files: /\.(?:java|scala|groovy)$/, ...javaLike },
  { name: 'Kotlin', files: /\.kts?$/, ...javaLike },
  {
    name: 'Ruby',
    files: /\.(?:rb|rake|ru)$|(?:^|\/)Rakefile$/,
    comments: 'hashes',
    sdk: /\baws-sdk|\bAws::|\b[Ss]horyuken\b/,
    calls:
      /(?:\.|&\.|\b(?:public_send|__send__|send|method)\(\s*[:"'])(send_message|send_messages|send_message_batch|publish|publish_batch)\b/g,
    group: /\bmessage_group_id\b/,
    line: /,\s*$/,
    isWrittenOut: (input) =>
      // A message of something else is a text.
      /^\s*["']|\w:\s|=>/.test(input) && !/\*\*|\bentries:\s*[a-z_@]\w*\s*(?:[,)}]|$)/.test(input),
  },
  {
    name: 'PHP',
    files: /\.(?:php|phtml|inc)$/,
    comments: 'both',
    sdk: /\bAws\\|\bS[qn]sClient\b/,
    calls:
      /(?:->|\bgetCommand\(\s*["'])(sendMessage|SendMessage|sendMessageBatch|SendMessageBatch|publish|Publish|publishBatch|PublishBatch)(?:Async)?\b|["'](sendMessage(?:Batch)?(?:Async)?)["']/g,
    group: /\bMessageGroupId\b/,
    isWrittenOut: (input) =>
      /^\s*(?:\[|array\s*\()/.test(input) && !/\.\.\.\s*\$|Entries["']\s*=>\s*\$/.test(input),
  },
  {
    name: 'C#',
    files: /\.(?:cs|fs|vb)$/,
    comments: 'slashes',
    sdk: /\bAmazon\.(?:SQS|SimpleNotificationService)\b|\bIAmazon(?:SQS|SimpleNotificationService)\b|\bAWS\.Messaging\b/,
    calls: /\.\s*(SendMessage|SendMessageBatch|Publish|PublishBatch)(?:Async)?(?=\s*[(<])/g,
    requests: /\bnew\s+((?:SendMessage|Publish)(?:Batch)?Request(?:Entry)?)\s*(?:\(\s*\)\s*)?[{(]/g,
    group: /\bMessageGroupId\b/,
    isWrittenOut: (input) =>
      !/Entries\s*=\s*\w+\s*(?:[,}]|$)/.test(input) &&
      /\bnew\b[^{]{0,200}\{|\bnew\s+\w+Request\s*\(|^\s*[\w.]+\s*,\s*(?!cancel|ct\b|token)/i.test(
        input,
      ),
  },
  {
    // Also where commands stand in other files: jobs of CI, images, make.
    name: 'shell',
    isProgram: false,
    files:
      /\.(?:sh|bash|zsh|ksh|ya?ml|mk|ps1)$|(?:^|\/)(?:Makefile|Dockerfile|Containerfile|[Jj]ustfile|Jenkinsfile)[^/]*$|(?:^|\/)[^./]+$/,
    comments: 'hashes',
    sdk: /\baws(?:local)?\b/,
    calls:
      /\baws(?:local|-cli(?::[\w.]{1,40})?)?(?:[\s\\]+--?[\w-]{1,40}(?:[ =][^\s\\-]\S{0,200})?){0,8}[\s\\]+(sqs[\s\\]+send-message(?:-batch)?|sns[\s\\]+publish(?:-batch)?)\b|\$\{?\w{1,40}\}?"?[\s\\]+((?:sqs[\s\\]+)?send-message(?:-batch)?)\b|\b(Send-SQSMessage(?:Batch)?|Publish-SNSMessage)\b/g,
    group: /--message-group-id\b|\bMessageGroupId\b/,
    line: /[\\`]\s*$/,
    isWrittenOut: (input) =>
      !/--cli-input|--entries\b|RequestEntries|\$[@*]|\[@\]|-entries\s/.test(input) &&
      // A variable that is no option's value may hold options.
      !/(?:^|\s)\$\{?\w/.test(input.replace(/--?[\w-]{1,40}[ =]["$\w]\S*/g, '')),
  },
  {
    name: 'Terraform',
    isProgram: false,
    files: /\.(?:tf|tf\.json|tofu)$/,
    comments: 'both',
    sdk: /[\s\S]/,
    calls:
      /(?<!var\.|local\.|each\.value\.)\b(message_group_id|MessageGroupId)\b["']?\s*(?:=(?!=)|:)/g,
    group: /[\s\S]/,
    isWrittenOut: never,
  },
  {
    name: 'CloudFormation',
    isProgram: false,
    files: /\.(?:ya?ml|json|template)$/,
    comments: 'hashes',
    sdk: /AWSTemplateFormatVersion|\bAWS::[A-Z]\w+::|:states:::(?:aws-sdk:)?(?:sqs|sns)\b|x-amazon-apigateway-integration/,
    calls: /\b(MessageGroupId)\b(?:\.\$)?["']?\s*[:=]/g,
    group: /[\s\S]/,
    isWrittenOut: never,
  },
];

/** Languages with an AWS SDK that is used seldom: a send is reported where the file names a group or a FIFO queue. */
const rareLanguages: Language = {
  name: 'others',
  files:
    /\.(?:rs|exs?|erl|c|cc|cpp|cxx|hpp|mm?|swift|cljc?|cljs|dart|p[lm]|lua|jl|hs|mli?|nim|zig|cr|[rR])$/,
  comments: 'both',
  sdk: /[Ss][QqNn][Ss]|[mM]essage_?[gG]roup_?[iI]d/,
  calls:
    /\b(send_message(?:_batch)?|[sS]endMessage(?:Batch)?|publish(?:_batch)?|[pP]ublish(?:Batch)?)\s{0,9}(?=\()|:op\s{1,9}:(SendMessage(?:Batch)?|Publish(?:Batch)?)\b/g,
  group: /\bmessage_?group_?id\b|\b(?:Set|With)MessageGroupId\b/i,
  isWrittenOut: never,
};

/** For TypeScript and JavaScript that the parser cannot read. */
export const scriptLanguage: Language = {
  name: 'JavaScript',
  files: /\.[mc]?[jt]sx?$/,
  comments: 'slashes',
  sdk: /["'](?:@aws-sdk\/client-(?:sqs|sns)|aws-sdk(?:\/[\w/-]+)?|sqs-producer)["']/,
  calls:
    /\b((?:SendMessage|Publish)(?:Batch)?Command)(?=\s*\()|\.\s*(sendMessage|sendMessageBatch|publish|publishBatch)(?=\s*\()/g,
  group: /\bMessageGroupId\b/,
  isWrittenOut: (input) => /^\s*\{/.test(input) && !input.includes('...'),
};

/** Every language but TypeScript and JavaScript in files of their own. */
export const languages: readonly Language[] = [
  ...common,
  rareLanguages,
  { ...scriptLanguage, name: 'components', files: /\.(?:vue|svelte|astro)$/ },
];

/** What a program without an extension is written in, by its first line; undefined if that does not say. */
export function interpreterOf(text: string): Language | undefined {
  const program =
    /^#!\S*?(?:\/env\s+(?:-S\s+)?(?:\w+=\S*\s+)*(?:\S*\/)?|\/)([a-z]+)[\d.]*(?=\s|$)/.exec(
      text.slice(0, firstLineMax),
    )?.[1];
  if (program === undefined) return undefined;
  if (/^(?:node|nodejs|deno|bun|tsx|zx)$/.test(program)) return scriptLanguage;
  const name = { python: 'Python', ruby: 'Ruby', php: 'PHP', perl: 'others' }[program];
  return languages.find((language) => language.name === name);
}
