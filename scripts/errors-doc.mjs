/**
 * Writes docs/errors.md from the table in src/errors.ts and the example messages of the OpenAPI descriptions: headings,
 * meanings, messages and the table of commands. Introductions and the advice of each error are written by hand, in the
 * document itself, and stay. With --check it says whether the document is up to date. Needs a build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { ERRORS } from '../dist/errors.js';
import { EXAMPLE_MESSAGES } from '../dist/service/http/error-examples.js';

const FILE = 'docs/errors.md';
const COMMANDS = '## In commands and logs';
const written = readFileSync(FILE, 'utf8');

const [, introduction] = /^([^]*?)(?=^## \d{3}$)/m.exec(written);
const [, ofCommands] = new RegExp(`^${COMMANDS}\\n\\n([^]*?)(?=^\\|)`, 'm').exec(written);

/** Text after a heading: by status the introduction of a group, by code what stands under its message. */
const groupTexts = textsAfter(/^## (\d{3})\n([^]*?)(?=^##)/gm);
const advice = textsAfter(/^### `(\w+)`\n[^>]*?\n> .+\n([^]*?)(?=^##)/gm);

const codes = Object.keys(ERRORS);
const isPublic = (code) => code in EXAMPLE_MESSAGES;
const statuses = [...new Set(codes.filter(isPublic).map((code) => ERRORS[code].status))].sort();
const sections = statuses.map((status) => {
  const errors = codes.filter((code) => isPublic(code) && ERRORS[code].status === status).map(sectionOf);
  return [`## ${status}`, groupTexts[status] ?? '', ...errors].join('\n\n');
});
const rows = codes
  .filter((code) => !isPublic(code))
  .map((code) => `| \`${code}\` | ${ERRORS[code].exitCode} | ${ERRORS[code].meaning} |`);
const table = ['| code | exit code | meaning |', '| --- | --- | --- |', ...rows].join('\n');
const text = [introduction, ...sections, COMMANDS, ofCommands, table].join('\n\n');
const document = await format(text, { ...(await resolveConfig(FILE)), filepath: FILE });

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, document);
  console.log(FILE);
} else if (document !== written) {
  console.error(`${FILE} is not up to date: npm run refresh writes it.`);
  process.exitCode = 1;
}

function sectionOf(code) {
  if (!advice[code])
    throw new Error(`${FILE} must say under ### \`${code}\` and a message what a client does.`);
  return [`### \`${code}\``, ERRORS[code].meaning, `> ${EXAMPLE_MESSAGES[code]}`, advice[code]].join('\n\n');
}

function textsAfter(heading) {
  return Object.fromEntries([...written.matchAll(heading)].map(([, name, text]) => [name, text.trim()]));
}
