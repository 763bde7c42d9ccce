/**
 * The functions of the 23 Amazon SQS actions by name; the shapes describe their inputs and outputs. A new action needs a
 * row in both tables, and a test checks that they agree.
 */

import type { Action } from '../action.ts';
import { addPermission } from './add-permission.ts';
import { cancelMessageMoveTask } from './cancel-message-move-task.ts';
import { changeMessageVisibility } from './change-message-visibility.ts';
import { changeMessageVisibilityBatch } from './change-message-visibility-batch.ts';
import { createQueue } from './create-queue.ts';
import { deleteMessage } from './delete-message.ts';
import { deleteMessageBatch } from './delete-message-batch.ts';
import { deleteQueue } from './delete-queue.ts';
import { getQueueAttributes } from './get-queue-attributes.ts';
import { getQueueUrl } from './get-queue-url.ts';
import { listDeadLetterSourceQueues } from './list-dead-letter-source-queues.ts';
import { listMessageMoveTasks } from './list-message-move-tasks.ts';
import { listQueueTags } from './list-queue-tags.ts';
import { listQueues } from './list-queues.ts';
import { purgeQueue } from './purge-queue.ts';
import { receiveMessage } from './receive-message.ts';
import { removePermission } from './remove-permission.ts';
import { sendMessage } from './send-message.ts';
import { sendMessageBatch } from './send-message-batch.ts';
import { setQueueAttributes } from './set-queue-attributes.ts';
import { startMessageMoveTask } from './start-message-move-task.ts';
import { tagQueue } from './tag-queue.ts';
import { untagQueue } from './untag-queue.ts';

export const sqsActionFunctions: Readonly<Record<string, Action>> = {
  AddPermission: addPermission,
  CancelMessageMoveTask: cancelMessageMoveTask,
  ChangeMessageVisibility: changeMessageVisibility,
  ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
  CreateQueue: createQueue,
  DeleteMessage: deleteMessage,
  DeleteMessageBatch: deleteMessageBatch,
  DeleteQueue: deleteQueue,
  GetQueueAttributes: getQueueAttributes,
  GetQueueUrl: getQueueUrl,
  ListDeadLetterSourceQueues: listDeadLetterSourceQueues,
  ListMessageMoveTasks: listMessageMoveTasks,
  ListQueueTags: listQueueTags,
  ListQueues: listQueues,
  PurgeQueue: purgeQueue,
  ReceiveMessage: receiveMessage,
  RemovePermission: removePermission,
  SendMessage: sendMessage,
  SendMessageBatch: sendMessageBatch,
  SetQueueAttributes: setQueueAttributes,
  StartMessageMoveTask: startMessageMoveTask,
  TagQueue: tagQueue,
  UntagQueue: untagQueue,
};
