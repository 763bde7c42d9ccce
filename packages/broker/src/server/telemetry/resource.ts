/** Who speaks: the service `oncemq` and its version, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` say else. */

import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';

export function serverResource(version: string): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'oncemq', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
}
