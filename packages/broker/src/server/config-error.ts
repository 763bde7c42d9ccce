/**
 * The one error of a wrong configuration, wherever in it the mistake is. The command line shows its text and ends with 2;
 * a program can tell it from a failure of the server.
 */

/** The configuration is wrong; the message says where and what to do. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
}
