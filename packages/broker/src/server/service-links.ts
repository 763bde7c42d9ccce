/**
 * Tells the variables that Kubernetes sets in a pod for each Service of its namespace ("service links") from settings. For
 * a Service named `oncemq`, or one whose name begins with `oncemq-`, they have the prefix of our own variables.
 *
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */

const named =
  /^ONCEMQ(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)$/;
/** `ONCEMQ_PORT` is also a setting, so its value decides. */
const portName = /^ONCEMQ(_[A-Z0-9]+)*_PORT$/;
const portValue = /^(tcp|udp|sctp):\/\//;

export function isServiceLink(variable: string, value: string): boolean {
  return named.test(variable) || (portName.test(variable) && portValue.test(value));
}
