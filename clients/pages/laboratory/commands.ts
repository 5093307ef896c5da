/** Writes an experiment as a curl command, as Python, or as a command of this project. */
import { isList, isMembers, readableJson, type Json, type Members } from './json.js';

export const COMMAND_KINDS = { curl: 'curl', python: 'Python', command: 'Command' } as const;
export type CommandKind = keyof typeof COMMAND_KINDS;

/**
 * @param service address of the service, without a slash at its end
 * @param isJob true if the experiment is a job; the command line decides that itself
 */
export function commandText(kind: CommandKind, document: Members, service: string, isJob: boolean): string {
  switch (kind) {
    case 'curl':
      return isJob ? curlOfJob(document, service) : curlOfRequest(document, service);
    case 'python':
      return [
        'from neural_experiment_client import Lab',
        '',
        `lab = Lab(${pythonOf(service)})`,
        isJob ? 'job = lab.submit(' : 'result = lab.run(',
        ...Object.entries(document).map(([name, value]) => `    ${argumentOf(name, value)},`),
        ')',
        // lab.job(name) finds the job again later.
        ...(isJob ? ['print(job.name)', 'result = job.wait(progress=True)'] : []),
        'print(result.rates)',
      ].join('\n');
    case 'command':
      // The shell does not expand the text after a quoted delimiter.
      return [
        `npm run -s experiment -- - --url '${service}' <<'DOCUMENT'`,
        readableJson(document),
        'DOCUMENT',
      ].join('\n');
  }
}

function curlOfRequest(document: Members, service: string): string {
  return [
    `curl -sS --compressed '${service}/api/v2/experiments?format=csv' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(readableJson(document))}`,
  ].join('\n');
}

/** Begins the job, polls it until it ends, and reads the results, or the state if there are none. */
function curlOfJob(document: Members, service: string): string {
  return [
    `job=$(curl -sS -o /dev/null -w '%header{location}' '${service}/api/v2/experiments' \\`,
    `  -H 'Content-Type: application/json' -H 'Prefer: respond-async' \\`,
    `  -d ${shellQuoted(readableJson(document))})`,
    // A proxy may have changed the path before the name.
    `job='${service}/api/v2/experiments/'"\${job##*/}"`,
    `while curl -sS "$job" | grep -qE '"status":"(accepted|running)"'; do sleep 2; done`,
    `curl -sS --compressed "$job/results?format=csv"`,
  ].join('\n');
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Words that Python takes for no name (Python 3.14, Lexical analysis, section 2.3.2). */
const KEYWORDS =
  /^(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

/** An argument of a call. A document from a link may have members with any name, and names must not become code. */
function argumentOf(name: string, value: Json): string {
  return /^[A-Za-z]\w*$/.test(name) && !KEYWORDS.test(name)
    ? `${name}=${pythonOf(value)}`
    : `**{${pythonOf(name)}: ${pythonOf(value)}}`;
}

/** A literal of Python. */
function pythonOf(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (isList(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (isMembers(value)) {
    return `{${Object.entries(value)
      .map(([name, member]) => `${pythonOf(name)}: ${pythonOf(member)}`)
      .join(', ')}}`;
  }
  // JSON numbers and strings are Python literals. JSON.stringify escapes lone surrogates as \uXXXX.
  return JSON.stringify(value);
}
