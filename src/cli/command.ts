/**
 * Shared by all commands: the options, described once for the parser and for --help, and the handling of errors.
 *
 * A command exits with 0, with the status that its `run` returns, or with the exit code of the CodedError that it
 * throws. An error is one line on standard error; only a bug prints a stack trace.
 */
import { parseArgs } from 'node:util';
import { CodedError } from '../errors.js';
import { ProgressLine } from './progress.js';

export interface OptionDescription {
  readonly type: 'string' | 'boolean';
  /** For --help. */
  readonly help: string;
  /** Placeholder of the value in --help, such as DIR; options of type string only. */
  readonly value?: string;
  readonly required?: boolean;
  /** May be given several times; its value is a list then. Options of type string only. */
  readonly multiple?: boolean;
  readonly default?: string;
  readonly choices?: readonly string[];
}

type Options = Readonly<Record<string, OptionDescription>>;

type OptionValue<O extends OptionDescription> = O['type'] extends 'boolean'
  ? boolean
  : O extends { multiple: true }
    ? readonly string[] | (Given<O> extends true ? never : undefined)
    : O['choices'] extends readonly string[]
      ? O['choices'][number] | (Given<O> extends true ? never : undefined)
      : string | (Given<O> extends true ? never : undefined);
type Given<O extends OptionDescription> = O extends { required: true } | { default: string } ? true : false;

export interface Positionals {
  /** Placeholder in --help, such as FILE. */
  readonly name: string;
  readonly help: string;
  readonly minimum: number;
  readonly maximum: number;
}

export interface Example {
  /** In a few words. */
  readonly what: string;
  /** What follows `npm run NAME --`. */
  readonly args: string;
}

export interface Command<O extends Options> {
  /** As in `npm run NAME --`. */
  readonly name: string;
  readonly summary: string;
  readonly options: O;
  readonly positionals?: Positionals;
  /** Shown at the end of --help. */
  readonly examples?: readonly Example[];
  /** What --help says behind all of this; ends with a line end. */
  readonly notes?: string;
  /**
   * @param progress of this command. It has to be ended before anything is written to standard output; in any case it
   *   is ended after the command and before an error is printed
   * @returns the exit status, or nothing for 0
   */
  run(
    options: { readonly [Name in keyof O]: OptionValue<O[Name]> },
    positionals: readonly string[],
    progress: ProgressLine,
  ): Promise<number | void>;
}

/** For the types of the options, where a command is defined apart from where it is run. */
export function defineCommand<const O extends Options>(command: Command<O>): Command<O> {
  return command;
}

/** Runs a command with the arguments of this process and sets the exit status of the process. */
export async function runCommand<const O extends Options>(command: Command<O>): Promise<void> {
  // `npm run … | head` closes the pipe early, which is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
  });
  process.exitCode = await statusOf(command, process.argv.slice(2));
}

async function statusOf<const O extends Options>(command: Command<O>, args: string[]): Promise<number> {
  try {
    if (args.includes('--help') || args.includes('-h')) {
      process.stdout.write(helpOf(command));
      return 0;
    }
    const { values, positionals } = parse(command, args);
    const progress = new ProgressLine();
    try {
      return (await command.run(values, positionals, progress)) ?? 0;
    } finally {
      progress.end();
    }
  } catch (error) {
    if (error instanceof CodedError) {
      process.stderr.write(`${error.message}\n`);
      return error.exitCode;
    }
    process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
    return 1;
  }
}

/** @throws CodedError USAGE */
function parse<const O extends Options>(command: Command<O>, args: string[]) {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: withNegativeNumbers(command, args),
      tokens: true,
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(command.options).map(([name, { type, multiple = false, default: preset }]) => [
          name,
          preset === undefined ? { type, multiple } : { type, multiple, default: preset },
        ]),
      ),
    });
  } catch (error) {
    // The first sentence names the error; the rest is advice that does not fit most commands.
    throw usage(command, (error as Error).message.split(/\.(?:\s|$)|\n/, 1)[0]!);
  }
  const names = parsed.tokens!.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const again = names.find(
    (name, at) => names.indexOf(name) < at && command.options[name]?.multiple !== true,
  );
  if (again !== undefined) throw usage(command, `--${again} is given twice`);
  for (const [name, option] of Object.entries(command.options)) {
    const value = parsed.values[name];
    if (option.required === true && value === undefined) {
      throw usage(command, `--${name} ${option.value ?? 'VALUE'} is missing`);
    }
    if (option.choices !== undefined && value !== undefined && !option.choices.includes(value as string)) {
      throw usage(command, `--${name} should be ${option.choices.join(' or ')}, found ${String(value)}`);
    }
    if (option.type === 'boolean') {
      parsed.values[name] = value === true;
    }
  }
  const { minimum, maximum, name } = command.positionals ?? { minimum: 0, maximum: 0, name: 'arguments' };
  const count = parsed.positionals.length;
  if (count < minimum || count > maximum) {
    const expected =
      minimum === maximum ? String(minimum) : minimum === 0 ? `at most ${maximum}` : `${minimum} or more`;
    const found = count === 0 ? 'none' : parsed.positionals.join(' ');
    throw usage(
      command,
      maximum === 0 ? `it takes no ${name}, found ${found}` : `it takes ${expected} ${name}, found ${found}`,
    );
  }
  return parsed as {
    values: { [Name in keyof O]: OptionValue<O[Name]> };
    positionals: string[];
  };
}

/** Node's parser takes `--seed -1` for two options, and asks for `--seed=-1`. */
function withNegativeNumbers({ options }: Command<Options>, args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const name = /^--([\w-]+)$/.exec(joined.at(-1) ?? '')?.[1] ?? '';
    if (options[name]?.type === 'string' && /^-[\d.]/.test(arg)) joined[joined.length - 1] += `=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/** An error that the parser cannot detect, such as two options of which one is required. */
export function usage(command: { readonly name: string }, what: string): CodedError {
  return new CodedError('USAGE', `${command.name}: ${what}. See npm run ${command.name} -- --help.`);
}

export function helpOf({
  name,
  summary,
  options,
  positionals,
  examples = [],
  notes,
}: Command<Options>): string {
  const described = [
    ...(positionals === undefined ? [] : [[positionals.name, positionals.help] as const]),
    ...Object.entries(options).map(([option, each]) => {
      const notes = [
        each.required === true ? 'required' : '',
        each.default === undefined ? '' : `default ${each.default}`,
      ].filter(Boolean);
      const value = each.value ?? each.choices?.join('|') ?? 'VALUE';
      return [
        each.type === 'boolean' ? `--${option}` : `--${option} ${value}`,
        notes.length === 0 ? each.help : `${each.help} (${notes.join(', ')})`,
      ] as const;
    }),
    ['--help', 'Show this help.'] as const,
  ];
  const width = Math.max(...described.map(([what]) => what.length));
  const lines = described.map(([what, help]) => `  ${what.padEnd(width)}  ${help}`);
  const usageText = positionals === undefined ? '' : ` ${placeholderOf(positionals)}`;
  const shown = examples.map(({ what, args }) => `  # ${what}\n  npm run ${name} -- ${args}\n`);
  return (
    `${summary}\n\nusage: npm run ${name} -- [options]${usageText}\n\n${lines.join('\n')}\n` +
    (shown.length === 0 ? '' : `\nexamples:\n${shown.join('')}`) +
    (notes === undefined ? '' : `\n${notes}`)
  );
}

function placeholderOf({ name, minimum, maximum }: Positionals): string {
  const each = maximum > 1 ? `${name}...` : name;
  return minimum === 0 ? `[${each}]` : each;
}
