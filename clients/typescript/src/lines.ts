/** The body of an answer, piece by piece or line by line. */

/** @throws DOMException TimeoutError where nothing comes in time while a piece is asked for; what the connection breaks with */
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
    // Closes the connection where more would come. One that broke has been closed.
    reader.cancel().catch(() => undefined);
  }
}

/**
 * Lines of text, without the ends of lines. What follows the last line end was cut off, and is no line.
 * @throws as piecesOf
 */
export async function* linesOf(response: Response, timeoutMs: number): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  // A line may be long and come in many pieces: they are joined once.
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

/** Error with which AbortSignal.timeout aborts. */
export function timeoutError(timeoutMs: number): DOMException {
  return new DOMException(`Nothing came for ${timeoutMs} ms.`, 'TimeoutError');
}

/** Limits the time of one read; the time between reads, of a reader that is slow to ask, does not count. */
async function withTimeout<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
