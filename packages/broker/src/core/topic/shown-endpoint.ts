/**
 * Endpoints without the secrets that a URL may carry. Answers to clients hide the password, as Amazon's do. Events and
 * failure reasons hide the user too: they are streamed, kept in ledgers and copied elsewhere.
 */

/** Everything before the last `@` of the authority. */
const credentials = /^(https?:\/\/)[^/?#]*@/;
const password = /^(https?:\/\/[^/?#:]*:)[^/?#]*@/;

/** For answers: `https://user:****@host`. */
export function listedEndpoint(endpoint: string): string {
  return endpoint.replace(password, '$1****@');
}

/** For events and reasons: `https://****@host`. */
export function shownEndpoint(endpoint: string): string {
  return endpoint.replace(credentials, '$1****@');
}
