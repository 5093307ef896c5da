import { once } from 'node:events';
import { connect } from 'node:net';
import { startProcess, type ServiceProcess } from '../support/service-process.js';

describe('an idle, kept-alive connection', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startProcess();
    await service.untilReady();
  });
  afterAll(() => service.stop());

  /** A connection over which one request was answered completely. */
  async function usedConnection() {
    const socket = connect(service.port, '127.0.0.1');
    socket.write('GET /livez HTTP/1.1\r\nHost: test\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    return socket;
  }

  it('may be reset without harm to the service', async () => {
    for (let attempt = 0; attempt < 5; attempt++) (await usedConnection()).resetAndDestroy();
    await new Promise((next) => setTimeout(next, 100));
    expect((await service.readyz()).status).toBe(200);
  });

  it('gets an answer to text that is no HTTP', async () => {
    const socket = await usedConnection();
    socket.write('nonsense\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /);
    expect((await service.readyz()).status).toBe(200);
  });
});
