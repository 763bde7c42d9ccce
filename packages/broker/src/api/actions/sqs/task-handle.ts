/**
 * The TaskHandle of a message move task (13.2): base64 of a JSON object with the task's id and the ARN of its source.
 * Amazon's has the same form, so tools that decode handles still work.
 */

import { parseObject } from '../../../core/json-object.ts';

export interface TaskName {
  readonly taskId: string;
  readonly sourceArn: string;
}

export function writeTaskHandle({ taskId, sourceArn }: TaskName): string {
  return Buffer.from(JSON.stringify({ taskId, sourceArn }), 'utf8').toString('base64');
}

/** Undefined for a text that is not a handle. */
export function readTaskHandle(handle: string): TaskName | undefined {
  const read = parseObject(Buffer.from(handle, 'base64').toString('utf8'));
  const { taskId, sourceArn } = read ?? {};
  const isWhole = typeof taskId === 'string' && typeof sourceArn === 'string';
  return isWhole ? { taskId, sourceArn } : undefined;
}
