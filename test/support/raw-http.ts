import { connect } from 'node:net';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawExchange {
  /** Requests that get a head without a body, in the order of the responses. */
  readonly bodyless?: readonly number[];
  /** Closes the sending half after this many responses; without it the server must close. */
  readonly endAfter?: number;
  readonly timeoutMs?: number;
}

/** Writes bytes to a socket as they are and reads every response until the connection is closed. */
export async function exchange(
  port: number,
  parts: readonly (string | Buffer)[],
  { bodyless = [], endAfter, timeoutMs = 15_000 }: RawExchange = {},
): Promise<RawResponse[]> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stays open after ${shown(received)}`));
    }, timeoutMs);
    socket.on('connect', () => {
      for (const part of parts) socket.write(part);
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (endAfter !== undefined && parseResponses(received, bodyless).length >= endAfter) socket.end();
    });
    // A server that refuses a request during its upload resets the connection after its answer.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(parseResponses(received, bodyless));
    });
  });
}

/** The complete responses in the received bytes. */
export function parseResponses(bytes: Buffer, bodyless: readonly number[] = []): RawResponse[] {
  const responses: RawResponse[] = [];
  let at = 0;
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) return responses;
    const [statusLine, ...lines] = bytes.subarray(at, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine!)?.[1]);
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const hasBody = !bodyless.includes(responses.length) && ![100, 204, 304].includes(status);
    const bodyEnd = headEnd + 4 + (hasBody ? Number(headers['content-length'] ?? 0) : 0);
    if (bytes.length < bodyEnd) return responses;
    responses.push({ status, headers, body: bytes.subarray(headEnd + 4, bodyEnd).toString('utf8') });
    at = bodyEnd;
  }
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 200).toString('latin1'));
}
