/** Fills the page of the API, docs.html, from the OpenAPI descriptions. Reading it needs no script. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  code,
  definitions,
  exampleText,
  folded,
  idOf,
  meaningOf,
  nameOf,
  paragraph,
  paragraphs,
  typeOf,
} from './api-schema.mjs';
import { escaped } from './site-guide.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DESCRIPTIONS = ['openapi.json', 'openapi-v2.json'];
const PLACE = '<!-- operations -->';
/** A service as npm run up starts it. The page replaces it by its own address. */
const ADDRESS = 'http://localhost:8080';
const EXPERIMENTS = '/api/v2/experiments';
const FAILURE = 400;

/**
 * Plugin of Vite that fills the page.
 * @param options isSite: the page is a file, and no service answers beside it
 */
export function apiPage(options) {
  return {
    name: 'api-page',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { filename }) =>
        basename(filename) === 'docs.html' ? html.replace(PLACE, () => apiContent(options)) : html,
    },
  };
}

/** The contents and the operations of all versions. */
export function apiContent({ isSite = false } = {}) {
  const versions = DESCRIPTIONS.map(versionOf);
  const operations = versions.flatMap((version) => version.operations);
  const [first, ...others] = operations.map(({ failures }) => failures);
  const common = first.filter((failure) => others.every((failures) => failures.includes(failure)));
  const sections = versions.map((version) => versionSection(version, common, isSite));
  return `<nav aria-label="Contents">
${versions.map(contentsOf).join('')}<ul>
<li><a href="#failures">Failures of every operation</a></li>
</ul>
</nav>
<article>
${sections.join('')}<h2 id="failures">Failures of every operation</h2>
<p>The body of a failure is an <a href="#v2-ErrorResponse">ErrorResponse</a>.</p>
<dl class="answers">
${common.join('')}</dl>
</article>`;
}

function versionOf(file) {
  const description = JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
  const version = description.info.version.split('.', 1)[0];
  const resolved = (part) =>
    part.$ref === undefined ? part : description.components[part.$ref.split('/').at(-2)][nameOf(part.$ref)];
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationOf({ version, path, method, resolved }, operation),
    ),
  );
  return { version, description, operations };
}

/** An operation with all references to parameters, answers, headers and examples resolved. */
function operationOf({ version, path, method, resolved }, operation) {
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const { headers = {}, content = {}, ...rest } = resolved(answer);
    return {
      ...rest,
      status,
      headers: Object.entries(headers).map(([name, header]) => ({ name, status, header: resolved(header) })),
      content: Object.entries(content).map(([type, { schema, examples = {} }]) => ({
        type,
        schema,
        examples: Object.values(examples).map(resolved),
      })),
    };
  });
  return {
    ...operation,
    version,
    path,
    method: method.toUpperCase(),
    id: idOf(version, operation.operationId),
    parameters: (operation.parameters ?? []).map(resolved),
    body: operation.requestBody && {
      ...operation.requestBody,
      schema: operation.requestBody.content['application/json'].schema,
      examples: Object.values(operation.requestBody.content['application/json'].examples).map(resolved),
    },
    answers,
    failures: answers.filter(({ status }) => status >= FAILURE).map(failureItem),
  };
}

function contentsOf({ version, description, operations }) {
  const links = description.tags.map(({ name }) => {
    const own = operations.filter(({ tags }) => tags.includes(name));
    const items = own.map((each) => `<li><a href="#${each.id}">${titleOf(each)}</a></li>\n`);
    return `<p>${escaped(name)}</p>\n<ul>\n${items.join('')}</ul>\n`;
  });
  return `<h2><a href="#v${version}">Version ${version}</a></h2>
${links.join('')}<ul>
<li><a href="#v${version}-schemas">Schemas</a></li>
</ul>
`;
}

function titleOf({ method, path }) {
  return `<span class="method ${method.toLowerCase()}">${method}</span> ${escaped(path)}`;
}

function versionSection({ version, description, operations }, common, isSite) {
  const { info, tags, components } = description;
  const sections = tags.flatMap((tag) => {
    const own = operations.filter((operation) => operation.tags.includes(tag.name));
    return [
      `<p class="hint">${escaped(`${tag.name}: ${tag.description}`)}</p>\n`,
      ...own.map((operation) => operationSection(operation, common, isSite)),
    ];
  });
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    // The target of links lies within: a browser then opens what is around it.
    folded(code(name), `<div id="${idOf(version, name)}">${schemaOf(schema, version)}</div>`),
  );
  const served = isSite
    ? ''
    : `<p>The service describes itself: <a href="api/v${version}/openapi">OpenAPI</a> and
<a href="api/v${version}/model">the model that it serves</a>.</p>\n`;
  return `<h2 id="v${version}">Version ${version}</h2>
<section class="info">
<p class="hint">${escaped(info.title)}, ${info.version}, <a href="${info.license.url}">${info.license.name}</a></p>
${paragraphs(info.description)}${served}</section>
${sections.join('')}<h2 id="v${version}-schemas">Schemas of version ${version}</h2>
<div class="schemas">
${schemas.join('')}</div>
`;
}

function schemaOf(schema, version) {
  return `<p class="hint">${typeOf(schema, version)}</p>${meaningOf(schema, version)}`;
}

function operationSection(operation, common, isSite) {
  const { id, version, summary, description, parameters, body, answers, failures } = operation;
  const successes = answers.filter(({ status }) => status < FAILURE);
  const named = parameters.map((parameter) => parameterItem(parameter, version));
  return `<section class="operation">
<h3 id="${id}">${titleOf(operation)}</h3>
<p><strong>${escaped(summary)}</strong></p>
${paragraph(description)}
${exampleOf(operation, isSite)}${named.length === 0 ? '' : `<h4>Parameters</h4>\n${definitions(named)}`}${
    body === undefined ? '' : bodyOf(body, operation, isSite)
  }<h4>Answers</h4>
<dl class="answers">
${successes.map((answer) => answerItem(answer, version)).join('')}</dl>
<h4>Failures</h4>
<dl class="answers">
${failures.filter((failure) => !common.includes(failure)).join('')}</dl>
<p><a href="#failures">Failures of every operation</a> can come as well.</p>
${headersOf(answers, version)}</section>
`;
}

function parameterItem({ name, in: place, required, description, schema }, version) {
  return {
    name,
    type: `${typeOf(schema, version)}, in the ${place}${required ? ', required' : ''}`,
    meaning: paragraph(description) + meaningOf(schema, version),
  };
}

/** The command of the first example. GET has links, too, if they need no name of a job or session. */
function exampleOf(operation, isSite) {
  const { method, path, parameters, body } = operation;
  const target = path.replace(/\{(\w+)\}/g, (_, name) =>
    exampleValue(parameters.find((each) => each.name === name)),
  );
  const query = parameters
    .filter((each) => each.in === 'query' && exampleValue(each) !== undefined)
    .map((each) => `${each.name}=${encodeURIComponent(exampleValue(each)).replaceAll('%3A', ':')}`);
  const address = [target, ...query].join('&').replace('&', '?');
  const isOpenable = method === 'GET' && target === path && !isSite;
  const link = `<p><a href="${escaped(address.slice(1))}">Open the answer</a></p>\n`;
  return commandOf(method, address, body?.examples[0].value) + (isOpenable ? link : '');
}

function exampleValue({ schema }) {
  return schema.examples?.[0];
}

function commandOf(method, address, document) {
  const request = method === 'GET' ? 'curl' : `curl -X ${method}`;
  const text = document && JSON.stringify(document).replaceAll("'", String.raw`'\''`);
  const posted = text ? ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${escaped(text)}'` : '';
  return `<pre class="command"><code>${request} '<span class="address">${ADDRESS}</span>${escaped(address)}'${posted}</code></pre>\n`;
}

function bodyOf({ description, schema, examples, required }, { version, path }, isSite) {
  const link = ({ value }) => {
    const document = encodeURIComponent(JSON.stringify(value));
    const page = isSite ? 'laboratory.html' : 'laboratory';
    return `<p><a href="${page}#document=${document}">Open in the laboratory</a></p>`;
  };
  const shown = examples.map((example) =>
    folded(
      `Example: ${escaped(example.summary)}`,
      exampleText(example.value) + (path === EXPERIMENTS ? link(example) : ''),
    ),
  );
  return `<h4>Body</h4>
<p><code>application/json</code>: ${typeOf(schema, version)}${required ? ', required' : ''}</p>
${paragraph(description)}${schema.$ref === undefined ? meaningOf(schema, version) : ''}
${shown.join('')}`;
}

function answerItem({ status, description, content, links = {} }, version) {
  const types = content.map(
    ({ type, schema, examples }) =>
      `<p>${code(type)}: ${typeOf(schema, version)}</p>\n${schema.$ref === undefined ? meaningOf(schema, version) : ''}` +
      examples
        .map(({ summary, value }) =>
          folded(summary ? `Example: ${escaped(summary)}` : 'Example', exampleText(value)),
        )
        .join(''),
  );
  const next = Object.values(links).map(
    (link) =>
      `<a href="#${idOf(version, link.operationId)}">${link.operationId}</a>: ${escaped(link.description)}`,
  );
  return `<dt>${status}</dt>
<dd>${paragraph(description)}${types.join('')}${next.length === 0 ? '' : `<p>Next: ${next.join(' ')}</p>`}</dd>
`;
}

/** All failures have bodies of one form. */
function failureItem({ status, description, content }) {
  const bodies = content.flatMap(({ examples }) => examples.map(({ value }) => JSON.stringify(value)));
  return `<dt>${status}</dt>\n<dd>${paragraph(description)}${folded('Examples', exampleText(bodies.join('\n')))}</dd>\n`;
}

function headersOf(answers, version) {
  const byText = new Map();
  for (const { name, status, header } of answers.flatMap(({ headers }) => headers)) {
    const text = JSON.stringify([name, header]);
    byText.set(text, { name, header, statuses: [...(byText.get(text)?.statuses ?? []), status] });
  }
  const entries = [...byText.values()].map(({ name, header, statuses }) => {
    const { description, schema, example } = header;
    return {
      name,
      type: `${typeOf(schema, version)}, of ${statuses.join(', ')}`,
      meaning: `${paragraph(description)}${example === undefined ? '' : `<p>Example: ${code(String(example))}</p>`}`,
    };
  });
  return folded('Headers of the answers', definitions(entries));
}
