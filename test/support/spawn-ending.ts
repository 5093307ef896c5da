import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';

/**
 * Like spawn, but on Linux the process ends with this one, however this one ends: a test run that is killed leaves no
 * service behind.
 * @param signal ends it; SIGTERM if it has processes of its own to end
 */
export function spawnEnding(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
  signal: 'KILL' | 'TERM' = 'KILL',
): ChildProcess {
  if (process.platform !== 'linux') return spawn(program, args, options);
  // setpriv becomes the program, so the process id is the program's.
  return spawn('setpriv', ['--pdeathsig', signal, '--', program, ...args], options);
}
