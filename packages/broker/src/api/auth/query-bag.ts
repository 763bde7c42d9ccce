/**
 * A query string in the form that the signature library expects: the values of each name, in their order. Signing and
 * verifying must use exactly the same form.
 */

export function queryBag(query: URLSearchParams): Record<string, string[]> {
  // Names come from the client; in an object without a prototype, `__proto__` is a name like any other.
  const bag: Record<string, string[]> = Object.create(null);
  for (const [name, value] of query) {
    const values = bag[name];
    if (values === undefined) bag[name] = [value];
    else values.push(value);
  }
  return bag;
}
