/**
 * A promise with a time limit.
 * @param late is asked for the result, or throws, where the promise has not settled after so many ms
 */
export async function withTimeout<T>(limitMs: number, promise: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  }).then(late);
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
