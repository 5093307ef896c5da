/** Longest wait for an answer, and for its next piece. The service sends lines of progress in between. */
const PATIENCE_MS = 60_000;

/** Fetches from the network. @throws DOMException TimeoutError if nothing comes for a time */
export async function fetchInTime(
  url: string | URL,
  init: RequestInit,
  patienceMs = PATIENCE_MS,
): Promise<Response> {
  const late = new AbortController();
  const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
  const inTime = async <T>(answer: Promise<T>): Promise<T> => {
    const error = new DOMException(`Nothing came for ${patienceMs / 1000} s.`, 'TimeoutError');
    const timer = setTimeout(() => late.abort(error), patienceMs);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  };
  const response = await inTime(fetch(url, { ...init, signal }));
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await inTime(reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Only the time of reads counts, because a page may be slow.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
