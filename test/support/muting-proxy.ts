import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Passes connections on to a port of the loopback. It can drop them as a network does that tells neither
 * end, and send new ones to another port as a fail-over does.
 */
export class MutingProxy {
  readonly #sockets: Socket[] = [];
  readonly #muted: Socket[] = [];

  private constructor(
    private readonly server: Server,
    private port: number,
  ) {}

  static async start(port: number): Promise<MutingProxy> {
    const server = createServer();
    const proxy = new MutingProxy(server, port);
    server.on('connection', (near: Socket) => proxy.#join(near, connect(proxy.port, '127.0.0.1')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Present connections stay where they are. */
  sendNewTo(port: number): void {
    this.port = port;
  }

  /** From now on, present connections pass nothing on and stay open. New ones work. */
  mute(): void {
    for (const socket of this.#sockets) {
      socket.removeAllListeners('data');
      socket.resume();
    }
    this.#muted.push(...this.#sockets.splice(0));
  }

  close(): void {
    for (const socket of [...this.#sockets, ...this.#muted]) socket.destroy();
    this.server.close();
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.push(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => undefined);
      // A muted connection does not tell that its other end has gone.
      from.on('close', () => this.#sockets.includes(from) && to.destroy());
    }
  }
}
