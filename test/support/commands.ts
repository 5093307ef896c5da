import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { statusOf, type Command } from '../../src/tools/cli/command.js';

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Input and settings of a command. */
interface Given {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a command in this process.
 * @param name as the file in src/tools/cli is called, such as model-compile
 */
export async function runCommand(
  name: string,
  args: readonly string[],
  { input = '', environment = {} }: Given = {},
): Promise<CommandResult> {
  const { command } = (await import(`../../src/tools/cli/${name}.js`)) as { readonly command: Command };
  const stdout: Uint8Array[] = [];
  let stderr = '';
  const status = await statusOf(command, args, {
    stdout: { write: (text) => stdout.push(Buffer.from(text)) },
    stderr: { write: (text) => (stderr += text) },
    environment,
    readInput: () => input,
  });
  return { status, stdout: Buffer.concat(stdout).toString(), stderr };
}

/** The built command as a process, for tests of exit codes, streams and signals. */
export interface CommandProcess {
  readonly stdout: string;
  readonly stderr: string;
  /** Ends it with a signal. */
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<CommandResult>;
}

/** Starts a built command as `npm run` does. */
export function startBuilt(name: string, args: readonly string[], given: Given = {}): CommandProcess {
  return started(process.execPath, [resolve('dist/tools/cli/run.js'), name, ...args], given);
}

/** Runs a built command to its end. */
export function runBuilt(name: string, args: readonly string[], given: Given = {}): Promise<CommandResult> {
  return startBuilt(name, args, given).ended;
}

/** Runs a built command on a terminal, where both outputs are one; needs Python. Lines end with CR and LF there. */
export function runOnTerminal(name: string, args: readonly string[]): Promise<CommandResult> {
  const script = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  const command = [process.execPath, resolve('dist/tools/cli/run.js'), name, ...args];
  return started('python3', ['-c', script, ...command], {}).ended;
}

function started(
  program: string,
  args: readonly string[],
  { input = '', environment }: Given,
): CommandProcess {
  const child = spawn(program, args, { env: { ...process.env, ...environment }, stdio: 'pipe' });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<CommandResult>((done, failed) => {
    child.on('error', failed);
    child.on('close', (status) => done({ status, ...output }));
  });
  return {
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    kill: (signal) => child.kill(signal),
    ended,
  };
}
