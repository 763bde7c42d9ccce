/**
 * Where a waiting message stands in a store that sorts by text (Redis, DynamoDB): by group, and within it by id. A group is
 * percent-encoded, so the space behind it sorts before any character of a longer group, and `!` before all of those.
 */

/** Of a message; without an id, of its group. */
export function waitingPlace(groupId: string, id?: number): string {
  const group = encodeURIComponent(groupId);
  return id === undefined ? group : `${group} ${idText(id)}`;
}

/** After all messages of the group and before those of the next one. */
export function groupBehind(groupId: string): string {
  return `${waitingPlace(groupId)}!`;
}

/** Sorts as the number does. */
export function idText(id: number): string {
  return String(id).padStart(16, '0');
}
