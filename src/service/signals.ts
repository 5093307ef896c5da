/**
 * Listens for signals from the first moment. main.ts loads this first, and it imports nothing of the service. Before the
 * rest is loaded, there is no work to finish, so a signal ends the process. Without a listener, process 1 of a container
 * would ignore the signal.
 */
import { isatty } from 'node:tty';

export const ENDING_SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
export type EndingSignal = keyof typeof ENDING_SIGNALS;

const STANDARD_STREAMS = [0, 1, 2];
/**
 * True if SIGHUP ends the service: its terminal has been closed. nohup makes a program ignore SIGHUP, but Node resets
 * every signal at its start, before any code of ours runs, so the service cannot see that. What nohup also does is to
 * redirect streams that are terminals. So a service without a terminal ignores SIGHUP, as daemons do. Asked at the
 * start, because a terminal that was closed is none any more.
 */
export const HANGUP_ENDS = STANDARD_STREAMS.some((stream) => isatty(stream));

let listener: (signal: EndingSignal) => void = (signal) => {
  if (signal !== 'SIGHUP' || HANGUP_ENDS) process.exit(0);
};

for (const signal of Object.keys(ENDING_SIGNALS) as EndingSignal[]) {
  process.on(signal, () => listener(signal));
}
// Without a listener, SIGUSR1 opens Node's debugger to every local process.
process.on('SIGUSR1', () => undefined);

/** Sets the action on a signal that asks for the end. The default ends the process with status 0. */
export function onEndingSignal(replacement: (signal: EndingSignal) => void): void {
  listener = replacement;
}
