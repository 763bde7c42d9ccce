/**
 * ARNs of queues and topics (rule 1.3). One engine serves one account in one region, so an ARN names one of its queues or
 * topics, or nothing it knows.
 */

export interface Realm {
  readonly region: string;
  readonly account: string;
}

export function queueArn(realm: Realm, name: string): string {
  return `arn:aws:sqs:${realm.region}:${realm.account}:${name}`;
}

/** The name of the queue of this realm that the ARN stands for; undefined for any other ARN. */
export function queueOfArn(realm: Realm, arn: string): string | undefined {
  const prefix = queueArn(realm, '');
  return arn.startsWith(prefix) ? arn.slice(prefix.length) : undefined;
}

export function isArn(text: string): boolean {
  return /^arn:[^:]+:[^:]+:[^:]*:[^:]*:.+$/.test(text);
}

export function topicArn(realm: Realm, name: string): string {
  return `arn:aws:sns:${realm.region}:${realm.account}:${name}`;
}
