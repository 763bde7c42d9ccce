/**
 * Reads the JSON objects that clients put into attribute values: policies and redrive policies. Anything else, a list
 * or broken JSON, is nothing here; what to say about it is for the attribute to know.
 */

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
