/**
 * Shared by all commands: the options, described once for the parser and for --help, and the handling of errors.
 *
 * A command exits with 0, with the status that its `run` returns, or with the exit code of the CodedError that it
 * throws. An error is one line on standard error; only a bug prints a stack trace.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearestNames } from '../schema/nearest-names.js';
import { CodedError, describeValue } from '../errors.js';
import { ProgressLine, type ProgressStream } from './progress.js';
import { wrapped } from './text.js';

export interface OptionDescription {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly help: string;
  /** Placeholder of the value in --help, such as DIR. */
  readonly value?: string;
  readonly required?: boolean;
  /** May be given several times; its value is a list then. Options of type string only. */
  readonly multiple?: boolean;
  readonly default?: string | number;
  readonly choices?: readonly string[];
  /** Which texts are allowed, and how an error message calls them. */
  readonly allowed?: { readonly test: (text: string) => boolean; readonly says: string };
  /** The least and the greatest integer. */
  readonly range?: readonly [number, number];
}

type Options = Readonly<Record<string, OptionDescription>>;

type OptionValue<O extends OptionDescription> = O['type'] extends 'boolean'
  ? boolean
  : ValueOf<O> | (O extends { required: true } | { default: string | number } ? never : undefined);
type ValueOf<O extends OptionDescription> = O['type'] extends 'integer'
  ? number
  : O extends { multiple: true }
    ? readonly string[]
    : O['choices'] extends readonly string[]
      ? O['choices'][number]
      : string;

/** Values of all options, given or by default. */
export type OptionValues<O extends Options> = { readonly [Name in keyof O]: OptionValue<O[Name]> };

type Further = Partial<Omit<OptionDescription, 'type' | 'help'>>;

/** An option with a text. @param value its placeholder in --help */
export function text<const F extends Further>(value: string, help: string, further = {} as F) {
  return { type: 'string' as const, value, help, ...further };
}

export function file<const F extends Further>(help: string, further = {} as F) {
  return text('FILE', help, further);
}

export function directory<const F extends Further>(help: string, further = {} as F) {
  return text('DIR', help, further);
}

/** An option with one of these texts. */
export function choice<const C extends readonly string[], const F extends Further>(
  choices: C,
  help: string,
  further = {} as F,
) {
  return text(choices.join('|'), help, { choices, ...further });
}

export function integer<const F extends Further>(help: string, further = {} as F) {
  return { type: 'integer' as const, help, ...further };
}

/** An option with the address of a service. */
export function address<const F extends Further>(help: string, further = {} as F) {
  const test = (given: string) => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
  const says = 'an http or https address such as http://localhost:8080';
  return text('URL', help, { ...further, allowed: { test, says } });
}

export function flag(help: string) {
  return { type: 'boolean' as const, help };
}

/** Arguments that are no options. */
export interface Positionals {
  /** Placeholder in --help, such as FILE. */
  readonly name: string;
  readonly help: string;
  /** By default none is needed. */
  readonly minimum?: 0 | 1;
  readonly maximum: number;
}

/** Standard streams and environment of a command; tests have their own. */
export interface Surroundings {
  readonly stdout: { write(text: string | Uint8Array): unknown };
  readonly stderr: ProgressStream;
  readonly environment: NodeJS.ProcessEnv;
  /** Reads standard input to its end. */
  readInput(): string;
}

/** Output and surroundings of a command that runs. */
export interface Terminal extends Pick<Surroundings, 'environment' | 'readInput'> {
  readonly progress: ProgressLine;
  /** Writes to standard output, after the end of progress. */
  print(text: string | Uint8Array): void;
}

export interface Command<O extends Options = Options> {
  /** As in `npm run NAME --`. */
  readonly name: string;
  readonly summary: string;
  readonly options: O;
  readonly positionals?: Positionals;
  /** Text of --help behind the options, such as examples; ends with a line end. */
  readonly notes?: string;
  /** @returns the exit status, or nothing for 0 */
  run(options: OptionValues<O>, positionals: readonly string[], terminal: Terminal): Promise<number | void>;
}

/** Infers the types of the options from their descriptions. */
export function defineCommand<const O extends Options>(command: Command<O>): Command<O> {
  return command;
}

/** A mistake in the arguments, such as two options of which only one can be given. The message is no whole sentence. */
export class UsageError extends Error {}

/** Runs a command with the arguments of this process and sets the exit status of the process. */
export async function runCommand(command: Command, args = process.argv.slice(2)): Promise<void> {
  // `npm run … | head` closes the pipe early, which is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.exitCode = await statusOf(command, args, {
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    // File descriptor 0 also reads pipes and terminals to their end.
    readInput: () => readFileSync(0, 'utf8'),
  });
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
    const failure = error instanceof UsageError ? usageFailure(command.name, error) : error;
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

function usageFailure(name: string, { message }: UsageError): CodedError {
  return new CodedError('USAGE', `${name}: ${message}. See npm run ${name} -- --help.`);
}

/** @throws UsageError */
function parsed({ options, positionals: expected }: Command, args: readonly string[]) {
  const { values: given, positionals, tokens } = tokensOf(options, args);
  const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const again = names.find((name, at) => names.indexOf(name) < at && options[name]?.multiple !== true);
  if (again !== undefined) throw new UsageError(`--${again} is given twice`);
  const values = Object.entries(options).map(([name, option]) => {
    const text = given[name];
    if (option.type === 'boolean') return [name, text === true];
    if (option.required === true && text === undefined) {
      throw new UsageError(`--${name} ${option.value ?? 'VALUE'} is missing`);
    }
    return [name, typeof text === 'string' ? valueOf(name, option, text) : (text ?? option.default)];
  });
  checkCount(positionals, expected);
  return { values: Object.fromEntries(values) as OptionValues<Options>, positionals };
}

function tokensOf(options: Options, args: readonly string[]) {
  const types = Object.entries(options).map(([name, { type, multiple = false }]) => [
    name,
    { type: type === 'boolean' ? type : 'string', multiple } as const,
  ]);
  try {
    return parseArgs({
      args: withNegativeNumbers(options, args),
      options: Object.fromEntries(types) as Record<string, { type: 'boolean' | 'string'; multiple: boolean }>,
      tokens: true,
      allowPositionals: true,
    });
  } catch (error) {
    // The first sentence names the error; the rest is advice that does not fit most commands.
    const what = (error as Error).message.split(/\.(?:\s|$)|\n/, 1)[0]!;
    const unknown = /^Unknown option '--(.*)'$/.exec(what)?.[1];
    const [near] = unknown === undefined ? [] : nearestNames(unknown, Object.keys(options), 1);
    throw new UsageError(near === undefined ? what : `${what}; did you mean --${near}?`);
  }
}

/** Node's parser takes `--seed -1` for two options, and asks for `--seed=-1`. */
function withNegativeNumbers(options: Options, args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const option = options[(joined.at(-1) ?? '').slice('--'.length)];
    const isValue = option !== undefined && option.type !== 'boolean' && /^-[\d.]/.test(arg);
    joined.push(isValue ? `${joined.pop()}=${arg}` : arg);
  }
  return joined;
}

/** @throws UsageError */
function valueOf(name: string, option: OptionDescription, text: string): string | number {
  const { type, choices, allowed, range: [minimum, maximum] = [0, Number.MAX_SAFE_INTEGER] } = option;
  const refused = (expected: string) =>
    new UsageError(`--${name} should be ${expected}, found ${describeValue(text)}`);
  if (choices?.includes(text) === false) throw refused(choices.join(' or '));
  if (allowed?.test(text) === false) throw refused(allowed.says);
  if (type !== 'integer') return text;
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (number >= minimum && number <= maximum) return number;
  throw refused(`a whole number from ${minimum} to ${maximum}`);
}

/** @throws UsageError */
function checkCount(given: readonly string[], expected: Positionals | undefined): void {
  const { minimum = 0, maximum, name } = expected ?? { maximum: 0, name: 'arguments' };
  if (given.length >= minimum && given.length <= maximum) return;
  const takes = maximum === 0 ? 'no' : minimum === 0 ? `at most ${maximum}` : `${minimum} or more`;
  throw new UsageError(`it takes ${takes} ${name}, found ${given.join(' ') || 'none'}`);
}

function helpOf({ name, summary, options, positionals, notes }: Command): string {
  const rows = [...Object.entries(options).map(optionHelp), ['--help', 'Show this help.']];
  if (positionals !== undefined) rows.unshift([positionals.name, positionals.help]);
  const width = Math.max(...rows.map(([option]) => option!.length));
  const lines = rows.flatMap(([option, help]) =>
    wrapped(help!, `  ${option!.padEnd(width)}  `, ' '.repeat(width + 4)),
  );
  const usage = `usage: npm run ${name} -- [options]${placeholderOf(positionals)}`;
  return `${[summary, usage, lines.join('\n'), notes ?? ''].join('\n\n').trimEnd()}\n`;
}

function optionHelp([name, option]: readonly [string, OptionDescription]): string[] {
  const value = option.value ?? option.choices?.join('|') ?? (option.type === 'integer' ? 'N' : 'VALUE');
  const notes = [
    ...(option.required === true ? ['required'] : []),
    ...(option.default === undefined ? [] : [`default ${option.default}`]),
  ];
  return [
    option.type === 'boolean' ? `--${name}` : `--${name} ${value}`,
    notes.length === 0 ? option.help : `${option.help} (${notes.join(', ')})`,
  ];
}

function placeholderOf(positionals: Positionals | undefined): string {
  if (positionals === undefined) return '';
  const { name, minimum = 0, maximum } = positionals;
  const each = maximum > 1 ? `${name}...` : name;
  return minimum === 0 ? ` [${each}]` : ` ${each}`;
}
