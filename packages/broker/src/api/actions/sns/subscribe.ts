/**
 * Subscribe (SNS 5.1–5.6): returns the ARN of a queue's subscription; that of an HTTP endpoint only on request, since it
 * is not confirmed yet. Links that are posted to an endpoint start with the URL that this request was sent to.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';

type Input = {
  readonly TopicArn?: string;
  readonly Protocol?: string;
  readonly Endpoint?: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly ReturnSubscriptionArn?: boolean;
};

export async function subscribe(input: Input, call: Call): Promise<Answer | Fault> {
  const { backend, baseUrl } = call;
  const outcome = await backend.run({
    type: 'subscribe',
    topicArn: input.TopicArn,
    protocol: input.Protocol,
    endpoint: input.Endpoint,
    endpointProblem: call.endpointProblemOf(input.Endpoint ?? ''),
    attributes: input.Attributes,
    baseUrl,
  });
  if (!outcome.ok) return outcome;
  const isTold = outcome.isConfirmed || input.ReturnSubscriptionArn === true;
  const arn = isTold ? outcome.subscriptionArn : 'pending confirmation';
  return { ok: true, output: { SubscriptionArn: arn } };
}
