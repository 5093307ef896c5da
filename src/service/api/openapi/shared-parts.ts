/** Moves what operations repeat, such as headers and failures, into components. This halves a description. */
import { group } from 'd3-array';

type Part = Readonly<Record<string, unknown>>;
type Parts = Record<string, Part>;

interface Content {
  readonly content?: Readonly<Record<string, { readonly examples?: Parts }>>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: Part[];
  readonly requestBody?: Content;
  readonly responses: Record<string, Part & Content & { readonly headers?: Parts }>;
}

export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Components by kind and name. */
export type Components = Readonly<Record<string, Readonly<Record<string, Part>>>>;

/** A part of an operation, which can be replaced. */
interface Slot {
  readonly name: string;
  readonly operationId: string;
  readonly part: Part;
  put(part: Part): void;
}

/** The kinds of parts. Those inside others come first, because equal parts must stay equal. */
const KINDS: Readonly<Record<string, (operation: Operation) => Slot[]>> = {
  examples: (operation) =>
    [operation.requestBody, ...Object.values(operation.responses)].flatMap((each) =>
      Object.values(each?.content ?? {}).flatMap(({ examples }) => slotsOf(operation, examples)),
    ),
  headers: (operation) =>
    Object.values(operation.responses).flatMap(({ headers }) => slotsOf(operation, headers)),
  parameters: (operation) =>
    (operation.parameters ?? []).map((part, at) => ({
      name: String(part['name']),
      operationId: operation.operationId,
      part,
      put: (other) => (operation.parameters![at] = other),
    })),
  responses: (operation) => slotsOf(operation, operation.responses as Parts, nameOfAnswer),
};

/** @param paths are changed */
export function withSharedParts(paths: Paths): { readonly paths: Paths; readonly components: Components } {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const components = Object.entries(KINDS).map(
    ([kind, slotsIn]) => [kind, shared(kind, operations.flatMap(slotsIn))] as const,
  );
  const used = components.filter(([, parts]) => Object.keys(parts).length > 0);
  return { paths, components: Object.fromEntries(used) };
}

/**
 * Replaces parts that occur more than once by references.
 * @returns the parts by name. If parts with one name differ, each has the name of its first operation as well.
 */
function shared(kind: string, slots: readonly Slot[]): Readonly<Record<string, Part>> {
  const groups = [...group(slots, ({ name, part }) => JSON.stringify([name, part])).values()];
  const names = groups.map(([first]) => first!.name);
  const parts: Record<string, Part> = {};
  for (const equal of groups) {
    const [{ name, operationId, part }] = equal as [Slot];
    if (equal.length < 2) continue;
    const isOnly = names.indexOf(name) === names.lastIndexOf(name);
    const base = isOnly ? name : `${name}_${operationId}`;
    const taken = Object.keys(parts).filter((each) => each.startsWith(base)).length;
    const own = Object.hasOwn(parts, base) ? `${base}_${taken + 1}` : base;
    parts[own] = part;
    for (const slot of equal) slot.put({ $ref: `#/components/${kind}/${own}` });
  }
  return parts;
}

function slotsOf({ operationId }: Operation, parts: Parts = {}, nameOf = (key: string) => key): Slot[] {
  return Object.entries(parts).map(([key, part]) => ({
    name: nameOf(key),
    operationId,
    part,
    put: (other) => (parts[key] = other),
  }));
}

function nameOfAnswer(status: string): string {
  return Number(status) < 400 ? `Answer${status}` : `Failure${status}`;
}
