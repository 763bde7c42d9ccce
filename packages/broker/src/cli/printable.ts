/**
 * Makes untrusted text safe for a terminal: a body or an id may contain control codes that change the terminal's title,
 * its colors or the writing direction. They are shown as escapes instead.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
const control = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function printable(text: string): string {
  return text.replace(
    control,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
