/** Copies an object and changes the value of each member. */
export function mapped<Name extends string, From, To>(
  members: Readonly<Record<Name, From>>,
  change: (value: From, name: Name) => To,
): Record<Name, To> {
  const entries = Object.entries<From>(members).map(([name, value]) => [name, change(value, name as Name)]);
  return Object.fromEntries(entries) as Record<Name, To>;
}
