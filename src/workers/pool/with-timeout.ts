/**
 * A promise with a time limit.
 * @param late returns the result, or throws, if the promise has not settled within limitMs
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
