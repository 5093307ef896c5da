import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a built command as `npm run` does, to its end.
 * @param name as the file in src/cli is called, such as model-compile
 */
export function runBuilt(
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return finished(process.execPath, [resolve(`dist/cli/${name}.js`), ...args], environment);
}

/** The same on a terminal, where both outputs are one; needs Python. Lines end with CR and LF there. */
export function runOnTerminal(name: string, args: readonly string[]): Promise<CommandResult> {
  const script = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  return finished('python3', ['-c', script, process.execPath, resolve(`dist/cli/${name}.js`), ...args], {});
}

function finished(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  return new Promise((done, failed) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', failed);
    child.on('close', (status) => done({ status, stdout, stderr }));
  });
}
