/**
 * Imported by the producer modules of these tests, so that a module that is loaded as TypeScript imports another one that
 * must be loaded the same way.
 */

export interface Scene {
  readonly tile: string;
  readonly day: string;
}

export function sceneTime({ day }: Scene): string {
  return `${day}T00:00:00Z`;
}
