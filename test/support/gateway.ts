import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Service } from './service.js';

/** Way of a request: on to a service, whose answer may be lost or cut, or no further, and then the proxy answers it. */
export type Way =
  | Service
  | { readonly losesAnswerOf: Service }
  | { readonly cutsAnswerOf: Service; readonly lines: number }
  | { readonly status: number; readonly html: string };

/** A reverse proxy before services; a test decides the way of each path. */
export interface Gateway {
  readonly url: string;
  wayOf: (path: string) => Way | Promise<Way>;
  stop(): Promise<void>;
}

/**
 * @param service gets everything for as long as the test says nothing else
 * @param prefix of the paths of the proxy, which it strips and announces; it knows no other paths
 */
export async function startGateway(service: Service, prefix = ''): Promise<Gateway> {
  const server = createServer((request, response) => {
    void (async () => {
      if (!request.url!.startsWith(`${prefix}/`)) {
        response.writeHead(404).end();
        return;
      }
      const path = request.url!.slice(prefix.length);
      const way = await gateway.wayOf(path);
      if ('html' in way) {
        response.writeHead(way.status, { 'content-type': 'text/html' }).end(way.html);
        return;
      }
      const { method } = request;
      const headers = { ...request.headers, ...(prefix !== '' && { 'x-forwarded-prefix': prefix }) };
      const isLost = 'losesAnswerOf' in way;
      const isCut = 'cutsAnswerOf' in way;
      const { port } = isLost ? way.losesAnswerOf : isCut ? way.cutsAnswerOf : way;
      if (isCut) headers['accept-encoding'] = 'identity';
      const onward = ask({ host: '127.0.0.1', port, method, headers, path }, (answer) => {
        if (isLost) {
          response.destroy();
          return;
        }
        response.writeHead(answer.statusCode!, answer.headers);
        if (isCut) void sendLines(answer, response, way.lines);
        else answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gateway: Gateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    wayOf: () => service,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return gateway;
}

/** Sends the first lines of an answer, and then breaks the connection. */
async function sendLines(answer: IncomingMessage, response: ServerResponse, count: number): Promise<void> {
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) {
    text += piece;
    const lines = text.split('\n');
    if (lines.length <= count) continue;
    response.write(`${lines.slice(0, count).join('\n')}\n`, () => response.destroy());
    return;
  }
}
