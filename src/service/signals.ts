/**
 * Listens for signals from the first moment on. main.ts loads this before anything else, and it imports nothing: until
 * the rest is loaded there is nothing to finish, and process 1 of a container would not even see a signal that nobody
 * listens for.
 */
export const ENDING_SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
export type EndingSignal = keyof typeof ENDING_SIGNALS;

let listener: (signal: EndingSignal) => void = () => process.exit(0);

for (const signal of Object.keys(ENDING_SIGNALS) as EndingSignal[]) {
  process.on(signal, () => listener(signal));
}
// Without a listener it opens the debugger of Node to every local process.
process.on('SIGUSR1', () => undefined);

/** Replaces what is done on a signal that asks for the end; until then it ends the process with 0. */
export function onEndingSignal(replacement: (signal: EndingSignal) => void): void {
  listener = replacement;
}
