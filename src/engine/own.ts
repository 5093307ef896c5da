/**
 * Looks up a name among an object's own members. Every object inherits `constructor` and others, and a name that a
 * client chose must not find them.
 * @returns undefined if the object has no such member
 */
export function own<T>(object: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}
