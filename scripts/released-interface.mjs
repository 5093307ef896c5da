/**
 * Compares the interface with that of the last release, for which generated clients exist: operations, their statuses,
 * components and required members. CHANGELOG.md must name whatever differs. With --release it writes the interface
 * instead; do this only when a release is made.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'released-interface.json';
const DOCUMENTS = ['openapi.json', 'openapi-v2.json'];

const interfaces = Object.fromEntries(
  DOCUMENTS.map((name) => [name, interfaceOf(JSON.parse(readFileSync(name, 'utf8')))]),
);
if (process.argv.includes('--release')) {
  writeFileSync(FILE, `${JSON.stringify(interfaces, null, 2)}\n`);
} else {
  const released = JSON.parse(readFileSync(FILE, 'utf8'));
  const [, unreleased = ''] =
    /^## Unreleased\n([^]*?)(?=^## )/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
  const unnamed = DOCUMENTS.flatMap((name) => differences(released[name], interfaces[name], name)).filter(
    ({ name }) => !unreleased.includes(`\`${name}\``),
  );
  for (const { name, text } of unnamed)
    console.error(
      `${text}\n  Write a line with \`${name}\` in CHANGELOG.md, section Unreleased, for users of clients.`,
    );
  process.exitCode = unnamed.length > 0 ? 1 : 0;
}

/** Reads the operations and components of an OpenAPI document by their names. */
function interfaceOf({ paths, components }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, requestBody, responses }]) => [
      operationId,
      {
        request: `${method.toUpperCase()} ${path}`,
        statuses: Object.keys(responses),
        required: requiredIn([requestBody, ...Object.values(responses)].flatMap(schemasOf)),
      },
    ]),
  );
  const schemas = Object.entries(components.schemas);
  return {
    operations: Object.fromEntries(operations),
    components: Object.fromEntries(
      schemas.map(([name, schema]) => [name, { required: requiredIn([schema]) }]),
    ),
  };
}

function schemasOf(message) {
  return Object.values(message?.content ?? {}).map(({ schema }) => schema);
}

/** Paths of the required members of schemas, except those of components to which they refer. */
function requiredIn(schemas, at = '') {
  const all = schemas.flatMap(({ required = [], properties = {}, ...schema }) => {
    const { items, additionalProperties, anyOf, oneOf, allOf } = schema;
    const inner = [items, additionalProperties, anyOf, oneOf, allOf].flat();
    return [
      ...required.map((name) => at + name),
      ...Object.entries(properties).flatMap(([name, each]) => requiredIn([each], `${at}${name}.`)),
      ...requiredIn(
        inner.filter((each) => typeof each === 'object'),
        at,
      ),
    ];
  });
  return [...new Set(all)].sort();
}

function differences(before, now, file) {
  return ['operations', 'components'].flatMap((kind) =>
    Object.entries(before[kind]).flatMap(([name, part]) => {
      const text = changeOf(part, now[kind][name]);
      return text === undefined ? [] : [{ name, text: `${file}, ${name}: ${text}.` }];
    }),
  );
}

/** Says how a part differs. New operations and components break no client. */
function changeOf(before, now) {
  if (now === undefined) return 'was removed';
  const changes = ['statuses', 'required'].flatMap((member) => {
    const [old, current] = [before[member] ?? [], now[member] ?? []];
    const added = current.filter((each) => !old.includes(each)).map((each) => `+${each}`);
    const removed = old.filter((each) => !current.includes(each)).map((each) => `-${each}`);
    return added.length + removed.length > 0 ? [`${member} ${[...added, ...removed].join(' ')}`] : [];
  });
  if (before.request !== now.request) changes.unshift(`request ${before.request} -> ${now.request}`);
  return changes.length > 0 ? changes.join('; ') : undefined;
}
