/**
 * Listens for signals from the first moment. main.ts loads this first, and it imports nothing. Before the rest is
 * loaded, there is no work to finish, so a signal ends the process. Without a listener, process 1 of a container
 * would ignore the signal.
 */
export const ENDING_SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
export type EndingSignal = keyof typeof ENDING_SIGNALS;

let listener: (signal: EndingSignal) => void = () => process.exit(0);

for (const signal of Object.keys(ENDING_SIGNALS) as EndingSignal[]) {
  process.on(signal, () => listener(signal));
}
// Without a listener, SIGUSR1 opens Node's debugger to every local process.
process.on('SIGUSR1', () => undefined);

/** Sets the action on a signal that asks for the end. The default ends the process with status 0. */
export function onEndingSignal(replacement: (signal: EndingSignal) => void): void {
  listener = replacement;
}
