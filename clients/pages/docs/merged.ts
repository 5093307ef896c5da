/** Merges OpenAPI descriptions, whose paths differ. */

export interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags?: readonly { readonly name: string }[];
  readonly paths: object;
  readonly components: { readonly schemas: object };
}

/**
 * If several versions have a schema, the last one counts.
 * @param descriptions from the oldest version to the newest
 */
export function merged(descriptions: readonly OpenApi[]): OpenApi {
  const [first] = descriptions;
  const versions = descriptions.map(({ info }) => info);
  const tags = descriptions.flatMap((description) => description.tags ?? []);
  return {
    ...first!,
    info: {
      ...first!.info,
      version: versions.map(({ version }) => version).join(', '),
      description: versions.map(({ version, description }) => `# ${version}\n\n${description}`).join('\n\n'),
    },
    tags: tags.filter(({ name }, at) => tags.findIndex((other) => other.name === name) === at),
    paths: Object.assign({}, ...descriptions.map(({ paths }) => paths)) as object,
    components: {
      schemas: Object.assign({}, ...descriptions.map(({ components }) => components.schemas)) as object,
    },
  };
}
