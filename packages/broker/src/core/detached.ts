/**
 * Strings that outlive the request they came with. In V8 a slice refers to the string it was cut from, so one remembered
 * name of a queue would keep a whole request body in memory. Copying through bytes makes a string of its own.
 */

/** The same text in a string of its own. Half a surrogate pair becomes U+FFFD. */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
