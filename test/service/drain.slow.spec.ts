import { rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Load, sendRun } from '../support/load.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';

const DELAY_MS = 100;
/** While this file exists, no run ends. */
const holdFile = join(tmpdir(), `drain-${process.pid}`);

describe('SIGTERM', () => {
  let service: ServiceProcess;
  const start = async (variables: Record<string, string> = {}, delayMs = DELAY_MS) => {
    service = await startProcess(
      { RATE_LIMIT: '0', CACHE_BYTES: '0', ...variables },
      { FAULT_DELAY_MS: String(delayMs), FAULT_HOLD_RUNS: holdFile },
    );
    await service.untilReady();
  };
  afterEach(() => {
    service.child.kill('SIGKILL');
    rmSync(holdFile, { force: true });
  });

  it('under load loses nothing that was accepted and ends with 0', async () => {
    await start();
    const load = new Load(service.url, 8);
    await until(() => load.count(200) >= 8);
    const before = load.count(200);
    service.child.kill('SIGTERM');
    expect(await service.exited()).toBe(0);
    const answers = await load.stop();
    // Eight clients, one worker: seven runs were waiting, and all of them were answered.
    expect(load.count(200) - before).toBeGreaterThanOrEqual(7);
    for (const { status, body } of answers.filter((answer) => answer.status === 200)) {
      expect([status, Object.keys(JSON.parse(body)).at(-1)]).toEqual([200, 'drive']);
    }
    for (const { status, body, error } of answers.filter((answer) => answer.status !== 200)) {
      // Refused with the reason, or not accepted at all.
      if (status === 503) expect(JSON.parse(body)).toMatchObject({ code: 'DRAINING' });
      else expect(['ECONNREFUSED', 'ECONNRESET']).toContain(error);
    }
    const logged = service.log().filter(({ path }) => path === '/api/v1/run');
    expect(logged.filter(({ status }) => status === 200)).toHaveLength(load.count(200));
    expect(logged.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  });

  it('fails readiness and refuses new runs while it finishes', async () => {
    await start({}, 600);
    const sessions = `${service.url}/api/v2/sessions`;
    const send = (url: string, body: object) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { session } = (await (await send(sessions, {})).json()) as { session: string };
    const running = [sendRun(service.url, { seed: 1 }), sendRun(service.url, { seed: 2 })];
    await until(async () => (await service.metric('nes_queue_runs{state="waiting"}')) === 1);
    service.child.kill('SIGTERM');
    await service.untilReadyz(({ status }) => status === 503);
    expect((await service.readyz()).body).toMatchObject({ code: 'DRAINING' });
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    expect(await service.metric('nes_model_state{state="draining"}')).toBe(1);
    const refused = await fetch(`${service.url}/api/v1/run`, { method: 'POST' });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'DRAINING' });
    // Closing the connection makes the client ask again elsewhere.
    expect(refused.headers.get('connection')).toBe('close');
    const step = await send(`${sessions}/${session}/steps`, { t_ms: 0, duration_ms: 20 });
    expect({ status: step.status, body: await step.json() }).toMatchObject({
      status: 503,
      body: { code: 'DRAINING' },
    });
    expect((await fetch(`${sessions}/${session}/document`)).status).toBe(200);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await service.exited()).toBe(0);
  });

  it('gives up within SHUTDOWN_MS, tells who still waits, and ends with 0 all the same', async () => {
    await start({ SHUTDOWN_MS: '1000' });
    writeFileSync(holdFile, '');
    const running = [sendRun(service.url, { seed: 1 }), sendRun(service.url, { seed: 2 })];
    await until(async () => (await service.metric('nes_queue_runs{state="waiting"}')) === 1);
    service.child.kill('SIGTERM');
    expect(await service.exited()).toBe(0);
    for (const { status, body } of await Promise.all(running)) {
      expect(status).toBe(503);
      expect(JSON.parse(body)).toMatchObject({ code: 'WORKER_LOST' });
    }
  });

  it('answers requests that had arrived but were not read yet', async () => {
    await start();
    // While the process stands still, the system accepts connections and their bytes.
    service.child.kill('SIGSTOP');
    const request = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n';
    const answers = Array.from({ length: 200 }, () => answerOn(connect(service.port, '127.0.0.1'), request));
    await Promise.all(answers.map(({ sent }) => sent));
    service.child.kill('SIGTERM');
    service.child.kill('SIGCONT');
    const all = await Promise.all(answers.map(({ answer }) => answer));
    for (const answer of all) expect(answer).toMatch(/^HTTP\/1\.1 (200|503) [^]*\}$/);
    expect(await service.exited()).toBe(0);
  });

  it('a second one ends it at once', async () => {
    await start();
    writeFileSync(holdFile, '');
    const running = sendRun(service.url, { seed: 1 });
    await until(async () => (await service.metric('nes_queue_runs{state="running"}')) === 1);
    service.child.kill('SIGTERM');
    await service.untilReadyz(({ status }) => status === 503);
    await new Promise((next) => setTimeout(next, 400));
    service.child.kill('SIGTERM');
    expect(await service.exited()).toBe(128 + 15);
    expect((await running).status).toBe(0);
  });

  it('does not wait for connections on which nothing was asked', async () => {
    await start({ SHUTDOWN_MS: '600000' });
    const idle = Array.from({ length: 20 }, () => connect(service.port, '127.0.0.1').on('error', () => {}));
    await Promise.all(idle.map((socket) => new Promise((done) => socket.once('connect', done))));
    service.child.kill('SIGTERM');
    expect(await service.exited()).toBe(0);
  });
});

/** `answer` is the code of the error if the connection was reset. */
function answerOn(socket: Socket, request: string) {
  let text = '';
  socket.setEncoding('utf8').on('data', (data: string) => (text += data));
  return {
    sent: new Promise<void>((done) => socket.once('connect', () => socket.write(request, () => done()))),
    answer: new Promise<string>((done) =>
      socket.on('error', ({ code }: NodeJS.ErrnoException) => done(code!)).on('close', () => done(text)),
    ),
  };
}
