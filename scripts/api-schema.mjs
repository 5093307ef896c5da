/** Writes JSON Schemas and examples of an OpenAPI description as HTML. */
import { Marked } from 'marked';
import { escaped } from './site-guide.mjs';

/** Keywords that the text of a schema covers. All others are shown as they are. */
const IN_WORDS = new Set([
  ...[
    '$ref',
    'additionalProperties',
    'anyOf',
    'const',
    'default',
    'description',
    'enum',
    'examples',
    'format',
  ],
  ...['items', 'maxItems', 'maxLength', 'maxProperties', 'maximum', 'minItems', 'minProperties', 'minimum'],
  ...['oneOf', 'pattern', 'properties', 'propertyNames', 'required', 'title', 'type', 'uniqueItems'],
]);

/** A list without lists and objects in it. Only text between values has line breaks. */
const LIST = /\[\n\s+([^[\]{}]*?)\n\s*\]/g;

const markdown = new Marked({ renderer: { html: ({ text }) => escaped(text) } });

/** A description in Markdown. */
export const paragraphs = (text) => markdown.parse(text);
/** A description without blocks: an asterisk at its start is no list. */
export const paragraph = (text) => (text ? `<p>${markdown.parseInline(text)}</p>` : '');
export const code = (text) => `<code>${escaped(text)}</code>`;
/** A value in a line; text without quotes. */
export const valueCode = (value) => code(typeof value === 'string' ? value : JSON.stringify(value));
export const nameOf = (reference) => reference.split('/').at(-1);

/** The address of a schema in the page. Both versions have schemas of the same names. */
export const idOf = (version, name) => `v${version}-${name}`;

/** A text that can be opened. */
export function folded(summary, content) {
  return `<details><summary>${summary}</summary>${content}</details>\n`;
}

/** @param value text of a table, or a value; lists of numbers and words take one line */
export function exampleText(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const short = text.replace(LIST, (_, items) => `[${items.replace(/\n\s+/g, ' ')}]`);
  return `<pre><code>${escaped(short)}</code></pre>`;
}

/** A list of names, each with its type and its meaning. */
export function definitions(entries) {
  const items = entries.map(
    ({ name, type, meaning }) => `<dt>${code(name)} <span>${type}</span></dt>\n<dd>${meaning}</dd>\n`,
  );
  return `<dl>\n${items.join('')}</dl>\n`;
}

/** A schema as the type of a member or parameter: with bounds and default, without description. */
export function typeOf(schema, version) {
  const fallback = schema.default === undefined ? '' : `, default ${valueCode(schema.default)}`;
  return kindOf(schema, version) + fallback;
}

function kindOf(schema, version) {
  const { $ref, enum: values, oneOf, anyOf = oneOf, type } = schema;
  if ($ref !== undefined) return `<a href="#${idOf(version, nameOf($ref))}">${nameOf($ref)}</a>`;
  if (schema.const !== undefined) return valueCode(schema.const);
  if (values !== undefined) return values.map(valueCode).join(' | ');
  if (anyOf !== undefined) return anyOf.map((each) => kindOf(each, version)).join(' or ');
  if (type === undefined) return 'any value';
  return [type]
    .flat()
    .map((name) => (KINDS[name] ?? escaped)(name, schema, version))
    .join(' or ');
}

const KINDS = {
  number: numberKind,
  integer: numberKind,
  string: stringKind,
  array: arrayKind,
  object: objectKind,
};

function numberKind(name, { minimum, maximum }) {
  return `${name}${between(minimum, maximum)}`;
}

function stringKind(name, { format, pattern, maxLength }) {
  const bound = maxLength === undefined ? '' : `, at most ${maxLength} characters`;
  return `${name}${format ? ` (${format})` : ''}${bound}${pattern ? `, pattern ${code(pattern)}` : ''}`;
}

function arrayKind(name, { items = {}, minItems, maxItems, uniqueItems }, version) {
  const count = between(minItems, maxItems);
  return `${name} of ${partKind(items, version)}${count && `,${count} items`}${uniqueItems ? ', all different' : ''}`;
}

function objectKind(name, schema, version) {
  const { additionalProperties: values, propertyNames, minProperties, maxProperties } = schema;
  const isMap = typeof values === 'object' && schema.properties === undefined;
  const count = between(minProperties, maxProperties);
  return [
    isMap ? `map of names to ${partKind(values, version)}` : name,
    count && `,${count} members`,
    propertyNames?.pattern ? `, names of the pattern ${code(propertyNames.pattern)}` : '',
  ].join('');
}

/** A choice within another type needs brackets. */
function partKind(schema, version) {
  const kind = kindOf(schema, version);
  return kind.includes(' or ') ? `(${kind})` : kind;
}

/** @returns an empty text without bounds */
function between(least, most) {
  if (least === undefined) return most === undefined ? '' : ` at most ${most}`;
  return most === undefined ? ` at least ${least}` : ` from ${least} to ${most}`;
}

/** The meaning of a schema: description, example, members, and the parts that have a meaning of their own. */
export function meaningOf(schema, version) {
  const [example] = schema.examples ?? [];
  return describedOf(schema, version, example === undefined ? '' : `<p>Example: ${valueCode(example)}</p>`);
}

function describedOf(schema, version, example) {
  const { items, additionalProperties, oneOf = [], anyOf = oneOf } = schema;
  const parts = [items, additionalProperties, ...anyOf].filter(
    (part) => typeof part === 'object' && part.$ref === undefined,
  );
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !IN_WORDS.has(keyword)));
  return [
    paragraph(schema.description),
    example,
    schema.properties === undefined ? '' : membersOf(schema, version),
    ...new Set(parts.map((part) => describedOf(part, version, ''))),
    Object.keys(rest).length > 0 ? `<p>${valueCode(rest)}</p>` : '',
  ].join('');
}

function membersOf({ properties, required = [] }, version) {
  const entries = Object.entries(properties).map(([name, schema]) => ({
    name,
    type: typeOf(schema, version) + (required.includes(name) ? ', required' : ''),
    meaning: meaningOf(schema, version),
  }));
  return definitions(entries);
}
