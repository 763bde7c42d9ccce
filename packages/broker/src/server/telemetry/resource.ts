/**
 * What a collector is told about this server, with every signal alike: service `oncemq`, its version, and an id of this
 * very process, so that the numbers of several servers are not taken for those of one. `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES` win over all of it.
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
