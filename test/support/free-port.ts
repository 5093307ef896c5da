import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections: one of these may be taken at any moment. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** First port that this process tries, so that test files that run side by side keep out of each other's way. */
let next = FIRST_PORT + ((process.pid * 97) % (LAST_PORT - FIRST_PORT));

/** A port that was free a moment ago, for a program that must be told its port before it starts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = next === LAST_PORT ? FIRST_PORT : next + 1;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
