/**
 * The one error for a wrong configuration, wherever the mistake is. The command line prints its message and exits with 2;
 * a program can distinguish it from a failure of the server.
 */

/** The configuration is wrong; the message says where and what to do. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
}
