/** Reads the body of a response, piece by piece or line by line. */

/** @throws DOMException TimeoutError if no piece comes in time; the connection's error if it breaks */
export async function* piecesOf(
  { body }: Response,
  timeoutMs: number,
): AsyncGenerator<Uint8Array, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await withTimeout(timeoutMs, reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // Closes the connection if the reader leaves early. A broken connection is closed already.
    reader.cancel().catch(() => undefined);
  }
}

/**
 * Lines of text without their line breaks. Text after the last line break was cut off, so it is dropped.
 * @throws as piecesOf
 */
export async function* linesOf(response: Response, timeoutMs: number): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  // A long line may come in many pieces. Joining them once avoids quadratic time.
  let begun: string[] = [];
  for await (const piece of piecesOf(response, timeoutMs)) {
    const [first, ...others] = decoder.decode(piece, { stream: true }).split('\n');
    begun.push(first!);
    for (const next of others) {
      yield begun.join('');
      begun = [next];
    }
  }
}

function timeoutError(timeoutMs: number): DOMException {
  return new DOMException(`Nothing came for ${timeoutMs} ms.`, 'TimeoutError');
}

/** The longest time of a platform's timer; a longer one ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Calls back after a time. No timer is started for Infinity, nor for more than a timer can take.
 * @returns a function that stops the timer
 */
export function startTimer(timeoutMs: number, onTimeout: (error: DOMException) => void): () => void {
  if (timeoutMs > MAX_TIMER_MS) return () => undefined;
  const timer = setTimeout(() => onTimeout(timeoutError(timeoutMs)), timeoutMs);
  return () => clearTimeout(timer);
}

/** Limits the time of one read. The time between reads does not count, because the reader may be slow. */
async function withTimeout<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let stop = (): void => undefined;
  const late = new Promise<never>((_, reject) => (stop = startTimer(timeoutMs, reject)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop();
  }
}
