import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Calls `use` with the address of a server that exists meanwhile and answers as a test says. */
export async function answeredBy<T>(answer: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(answer);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
