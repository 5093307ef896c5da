/** Merges OpenAPI descriptions, whose paths differ. */

type Components = Readonly<Record<string, object>>;

export interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags?: readonly { readonly name: string }[];
  readonly paths: object;
  readonly components: Components;
}

/** @param descriptions from the oldest version to the newest */
export function merged(descriptions: readonly OpenApi[]): OpenApi {
  const [first] = descriptions;
  const versions = descriptions.map(({ info }) => info);
  const tags = descriptions.flatMap((description) => description.tags ?? []);
  const parts = descriptions.map((each, at) => (at < descriptions.length - 1 ? withVersion(each) : each));
  const kinds = [...new Set(parts.flatMap(({ components }) => Object.keys(components)))];
  const allOf = (kind: string) =>
    Object.assign({}, ...parts.map(({ components }) => components[kind])) as object;
  return {
    ...first!,
    info: {
      ...first!.info,
      version: versions.map(({ version }) => version).join(', '),
      description: versions.map(({ version, description }) => `# ${version}\n\n${description}`).join('\n\n'),
    },
    tags: tags.filter(({ name }, at) => tags.findIndex((other) => other.name === name) === at),
    paths: Object.assign({}, ...parts.map(({ paths }) => paths)) as object,
    components: Object.fromEntries(kinds.map((kind) => [kind, allOf(kind)])),
  };
}

/** Puts the version before the names of components, because others have different ones of the same name. */
function withVersion(description: OpenApi): OpenApi {
  const prefix = `v${description.info.version.split('.', 1)[0]!}.`;
  const text = JSON.stringify(description).replaceAll(/"#\/components\/\w+\//g, (start) => start + prefix);
  const { components, ...rest } = JSON.parse(text) as OpenApi;
  const renamed = Object.entries(components).map(([kind, parts]) => [
    kind,
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [prefix + name, part as object])),
  ]);
  return { ...rest, components: Object.fromEntries(renamed) as Components };
}
