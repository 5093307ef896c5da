/**
 * Writes docs/errors.md, which has an entry for each error: its meaning from src/engine/errors.ts, its example message from
 * src/service/http/error-examples.ts, and the remedy. People write the remedies and the introductions in the document
 * itself, and this script keeps them. With --check it only says whether the document is up to date. Needs a build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import options from '../.oxfmtrc.json' with { type: 'json' };
import { ERRORS } from '../dist/engine/errors.js';
import { EXAMPLE_MESSAGES } from '../dist/service/http/error-examples.js';

const FILE = 'docs/errors.md';
const COMMANDS = '## In commands and logs';
const written = readFileSync(FILE, 'utf8');

const [, introduction] = /^([^]*?)(?=^## \d{3}$)/m.exec(written);
const [, ofCommands] = new RegExp(`^${COMMANDS}\\n\\n([^]*?)(?=^\\|)`, 'm').exec(written);

/** Texts that people wrote: the introduction of a status, and the remedy under the message of a code. */
const groupTexts = textsAfter(/^## (\d{3})\n([^]*?)(?=^##)/gm);
const remedies = textsAfter(/^### `(\w+)`\n[^>]*?\n> .+\n([^]*?)(?=^##)/gm);

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
const { code: document, errors } = await format(FILE, text, options);
if (errors.length > 0) throw new Error(errors[0].message);

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, document);
  console.log(FILE);
} else if (document !== written) {
  console.error(`${FILE} is not up to date: npm run refresh writes it.`);
  process.exitCode = 1;
}

function sectionOf(code) {
  if (!remedies[code]) throw new Error(`${FILE} needs a remedy under ### \`${code}\` and a message.`);
  return [`### \`${code}\``, ERRORS[code].meaning, `> ${EXAMPLE_MESSAGES[code]}`, remedies[code]].join(
    '\n\n',
  );
}

function textsAfter(heading) {
  return Object.fromEntries([...written.matchAll(heading)].map(([, name, text]) => [name, text.trim()]));
}
