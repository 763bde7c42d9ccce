/**
 * A query string in the form in which the signature library takes it: the values of each name, in their order. Whoever signs
 * and whoever checks must agree on it to the letter.
 */

export function queryBag(query: URLSearchParams): Record<string, string[]> {
  // Names are the client's; an object without a prototype takes `__proto__` for a name like any other.
  const bag: Record<string, string[]> = Object.create(null);
  for (const [name, value] of query) {
    const values = bag[name];
    if (values === undefined) bag[name] = [value];
    else values.push(value);
  }
  return bag;
}
