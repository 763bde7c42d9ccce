/**
 * How this server identifies itself to a collector, the same for every signal: service `oncemq`, its version, and an id of
 * this process, so that the numbers of several servers are not mixed up. `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES` override all of it.
 */

import { randomUUID } from 'node:crypto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { version } from '../version.ts';

const instanceId: string = randomUUID();

export function serverResource(): Resource {
  const own = resourceFromAttributes({
    'service.name': 'oncemq',
    'service.version': version,
    'service.instance.id': instanceId,
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}
