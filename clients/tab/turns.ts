/** A thread that computes in turns. Between two turns it reads its messages, so it can begin other work or stop this one. */
import type { Turn } from '../../src/experiments/run/turn.js';

/** An abort is noticed after this time and the trial under way. */
const TURN_MS = 20;

/**
 * A browser's timer would wait 4 ms, so this sends a message. Node handles up to 1,000 messages of a port before timers
 * and other ports, so there it is setImmediate.
 */
const afterMessages = 'setImmediate' in globalThis ? setImmediate : afterOwnMessage();

function afterOwnMessage(): (resolve: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()!();
  return (resolve) => {
    waiting.push(resolve);
    port2.postMessage(undefined);
  };
}

let untilMs = 0;

/** Returns at once during a turn; otherwise after the messages that wait were read. */
export async function pauseIfDue(signal: AbortSignal): Promise<void> {
  if (performance.now() >= untilMs) {
    await new Promise<void>((resolve) => {
      afterMessages(resolve);
    });
    untilMs = performance.now() + TURN_MS;
  }
  signal.throwIfAborted();
}

/** @throws the reason of the signal */
export function turnsOf(signal: AbortSignal): Turn {
  return async (piece) => {
    await pauseIfDue(signal);
    return piece();
  };
}
