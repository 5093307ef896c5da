/**
 * Common code of all commands: options, which are described once for both the parser and --help, and error handling.
 *
 * A command exits with 0, with the status that its `run` returns, or with the exit code of the CodedError that it
 * throws. An error is one line on standard error; only a bug prints a stack trace.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearestNames } from '../../engine/schema/nearest-names.js';
import { CodedError, describeValue } from '../../engine/errors.js';
import { ProgressLine, type ProgressStream } from './progress.js';
import { wrapped } from './text.js';
import { own } from '../../engine/own.js';

/** An option. The functions below create options. */
export interface Option {
  readonly help: string;
  /** Placeholder of the value in --help, such as DIR; without one it is a flag. */
  readonly value?: string;
  /** Converts the text to the value; undefined if it is not allowed. */
  readonly read?: (text: string) => unknown;
  /** Phrase on the allowed texts, for error messages. */
  readonly allowed?: string;
  readonly required?: boolean;
  /** True if it may be given several times; its value is then a list. */
  readonly multiple?: boolean;
  readonly default?: string | number;
  /** Another option that must be given too. */
  readonly needs?: string;
}

type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O extends { read(text: string): infer V } ? Exclude<V, undefined> : string;

/** Values of all options, given or by default. */
export type OptionValues<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends { value: string }
    ? | (O[Name] extends { multiple: true } ? readonly ValueOf<O[Name]>[] : ValueOf<O[Name]>)
      | (O[Name] extends { required: true } | { default: string | number } ? never : undefined)
    : boolean;
};

type Further = Omit<Option, 'help'>;

export function flag(help: string) {
  return { help };
}

/** An option with a text. @param value its placeholder in --help */
export function text<const F extends Further = object>(value: string, help: string, further = {} as F) {
  return { value, help, ...further };
}

/** An option with one of these texts. */
export function choice<const C extends string, const F extends Further = object>(
  choices: readonly C[],
  help: string,
  further = {} as F,
) {
  const read = (given: string) => choices.find((each) => each === given);
  return { value: choices.join('|'), help, ...further, read, allowed: choices.join(' or ') };
}

/** An option with a whole number. */
export function integer<const F extends Further = object>(
  help: string,
  [least, most]: readonly [number, number] = [0, Number.MAX_SAFE_INTEGER],
  further = {} as F,
) {
  const read = (given: string) => {
    const number = /^-?\d{1,16}$/.test(given) ? Number(given) : NaN;
    return number >= least && number <= most ? number : undefined;
  };
  return { value: 'N', help, ...further, read, allowed: `a whole number from ${least} to ${most}` };
}

/** An option with the address of a service. */
export function address(help: string) {
  const isHttp = (given: string) => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
  return text('URL', help, passing(isHttp, 'an http or https address such as http://localhost:8080'));
}

/** Members of an option that allow only texts that pass a test. */
export function passing(test: (text: string) => boolean, allowed: string) {
  return { read: (text: string) => (test(text) ? text : undefined), allowed };
}

/** Arguments other than options. */
interface Positionals {
  /** Notation of usage lines: `FILE` for one, `[FILE]` for at most one, `FILE...` for at least one, `[FILE...]` for any number. */
  readonly usage: string;
  readonly help: string;
}

/** Standard streams and environment of a command; tests pass others. */
interface Surroundings {
  readonly stdout: { write(text: string | Uint8Array): unknown };
  readonly stderr: ProgressStream;
  readonly environment: NodeJS.ProcessEnv;
  /** Reads standard input to its end. */
  readInput(): string;
}

/** Output and environment that a running command gets. */
export interface Terminal extends Pick<Surroundings, 'environment' | 'readInput'> {
  readonly progress: ProgressLine;
  /** Clears the progress line, then writes to standard output. */
  print(text: string | Uint8Array): void;
}

export interface Command<O extends Options = Options> {
  /** As in `npm run NAME --`. */
  readonly name: string;
  /** The call of a command that is not started by npm. */
  readonly call?: string;
  readonly summary: string;
  readonly options: O;
  /** Absent if the command takes none. */
  readonly positionals?: Positionals;
  /** Text of --help after the options, such as examples; ends with a line break. */
  readonly notes?: string;
  /** @returns the exit status, or nothing for 0 */
  run(options: OptionValues<O>, positionals: readonly string[], terminal: Terminal): Promise<number | void>;
}

/** Infers the types of the options from their descriptions. */
export function defineCommand<const O extends Options>(command: Command<O>): Command<O> {
  return command;
}

/** A mistake in the arguments, such as two options that exclude each other. The message is not a complete sentence. */
export class UsageError extends Error {}

/** @throws UsageError with the message `otherwise` unless the arguments fit together */
export function demand(fits: boolean, otherwise: string): asserts fits {
  if (!fits) throw new UsageError(otherwise);
}

/** Runs a command with the arguments of this process and sets the exit status of the process. */
export async function runCommand(command: Command, args = process.argv.slice(2)): Promise<void> {
  // `npm run … | head` closes the pipe early, which is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || process.exitCode === 1) return;
    process.stderr.write(`Standard output cannot be written: ${error.message}.\n`);
    // The command goes on, because it may have files to finish.
    process.exitCode = 1;
  });
  const status = await statusOf(command, args, {
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    // File descriptor 0 also reads pipes and terminals to their end.
    readInput: () => readFileSync(0, 'utf8'),
  });
  process.exitCode ||= status;
}

/** Runs a command to its end. @returns its exit status */
export async function statusOf(
  command: Command,
  args: readonly string[],
  { stdout, stderr, ...surroundings }: Surroundings,
): Promise<number> {
  const progress = new ProgressLine(stderr);
  const print = (text: string | Uint8Array) => {
    progress.end();
    stdout.write(text);
  };
  try {
    if (args.includes('--help') || args.includes('-h')) {
      print(helpOf(command));
      return 0;
    }
    const { values, positionals } = parsed(command, args);
    return (await command.run(values, positionals, { ...surroundings, print, progress })) ?? 0;
  } catch (error) {
    progress.end();
    const failure = error instanceof UsageError ? usageFailure(command, error) : error;
    if (failure instanceof CodedError) {
      stderr.write(`${failure.message}\n`);
      return failure.exitCode;
    }
    stderr.write(`${(failure as Error).stack ?? String(failure)}\n`);
    return 1;
  } finally {
    progress.end();
  }
}

function usageFailure(command: Command, { message }: UsageError): CodedError {
  return new CodedError('USAGE', `${command.name}: ${message}. See ${callOf(command)} --help.`);
}

function callOf({ name, call = `npm run ${name} --` }: Command): string {
  return call;
}

/** @throws UsageError */
function parsed({ options, positionals: expected }: Command, args: readonly string[]) {
  const { values: given, positionals } = parsedByNode(options, args);
  const values = Object.entries(options).map(([name, option]) => [name, valueOf(name, option, given)]);
  checkCount(positionals, expected?.usage);
  return { values: Object.fromEntries(values) as OptionValues<Options>, positionals };
}

/** Parses every option as a list, so that valueOf can refuse an option that is given twice. */
function parsedByNode(options: Options, args: readonly string[]) {
  const types = Object.entries(options).map(([name, { value }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', multiple: true } as const,
  ]);
  try {
    return parseArgs({
      args: withNegativeNumbers(options, args),
      options: Object.fromEntries(types) as Record<string, { type: 'boolean' | 'string'; multiple: true }>,
      allowPositionals: true,
    });
  } catch (error) {
    // Node's first sentence names the error; the rest is advice that does not fit most commands.
    const what = (error as Error).message.split(/\.(?:\s|$)|\n/, 1)[0]!;
    const unknown = /^Unknown option '--(.*)'$/.exec(what)?.[1];
    const [near] = unknown === undefined ? [] : nearestNames(unknown, Object.keys(options), 1);
    throw new UsageError(near === undefined ? what : `${what}; did you mean --${near}?`);
  }
}

/** Joins `--seed -1` to `--seed=-1`, because Node's parser takes the first form for two options. */
function withNegativeNumbers(options: Options, args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const option = own(options, (joined.at(-1) ?? '').slice('--'.length));
    const isValue = option?.value !== undefined && /^-[\d.]/.test(arg);
    joined.push(isValue ? `${joined.pop()}=${arg}` : arg);
  }
  return joined;
}

/** @throws UsageError */
function valueOf(
  name: string,
  { value, read = String, allowed, required, multiple, needs, default: usual }: Option,
  given: Readonly<Record<string, readonly (string | boolean)[] | undefined>>,
): unknown {
  const texts = own(given, name) ?? [];
  if (texts.length > 1 && multiple !== true) throw new UsageError(`--${name} is given twice`);
  if (value === undefined) return texts.length > 0;
  if (required === true && texts.length === 0) throw new UsageError(`--${name} ${value} is missing`);
  if (texts.length === 0) return usual;
  if (needs !== undefined && own(given, needs) === undefined)
    throw new UsageError(`--${name} needs --${needs}`);
  const values = texts.map((text) => {
    const found = read(String(text));
    if (found !== undefined) return found;
    throw new UsageError(`--${name} should be ${allowed}, found ${describeValue(text)}`);
  });
  return multiple === true ? values : values[0];
}

/** @throws UsageError */
function checkCount(given: readonly string[], usage = ''): void {
  const least = usage === '' || usage.startsWith('[') ? 0 : 1;
  const most = usage === '' ? 0 : usage.includes('...') ? Infinity : 1;
  if (given.length >= least && given.length <= most) return;
  const takes = most === 0 ? 'no arguments' : `${least === 0 ? 'at most 1' : '1 or more'} ${nameIn(usage)}`;
  throw new UsageError(`it takes ${takes}, found ${given.join(' ') || 'none'}`);
}

/** `FILE` of `[FILE...]`. */
function nameIn(usage: string): string {
  return usage.replace(/^\[|(\.\.\.)?\]?$/g, '');
}

function helpOf(command: Command): string {
  const { summary, options, positionals, notes = '' } = command;
  const rows = [
    ...(positionals === undefined ? [] : [[nameIn(positionals.usage), positionals.help] as const]),
    ...Object.entries(options).map(optionHelp),
    ['--help', 'Show this help.'] as const,
  ];
  const width = Math.max(...rows.map(([option]) => option.length));
  const lines = rows.flatMap(([option, help]) =>
    wrapped(help, `  ${option.padEnd(width)}  `, ' '.repeat(width + 4)),
  );
  const usage = `usage: ${callOf(command)} [options] ${positionals?.usage ?? ''}`.trimEnd();
  return `${[summary, usage, lines.join('\n'), notes].join('\n\n').trimEnd()}\n`;
}

function optionHelp([name, { value, help, required, default: usual }]: readonly [string, Option]) {
  const note = required === true ? ' (required)' : usual === undefined ? '' : ` (default ${usual})`;
  return [value === undefined ? `--${name}` : `--${name} ${value}`, help + note] as const;
}
