/** The defaults of properties, each of which has one, by their names. */
export function defaultsOf(properties: object): { [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, (schema as { default: unknown }).default]),
  );
}
