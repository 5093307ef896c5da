import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  NeuralExperimentClient,
  type ExperimentDocument,
  type Session,
  type StepAnswer,
} from '../../clients/typescript/src/client.js';
import { freePort } from '../support/free-port.js';
import { startProcess, until, type ServiceProcess } from '../support/service-process.js';
import { observed } from './extent.js';

const DOCUMENT: ExperimentDocument = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 0 }, loom: { node_set: 'S_loom', rate_hz: 30 } },
  reports: { spikes: { node_set: '@all', type: 'spikes' } },
};
const STEPS = 60;

/** A step of a course that all sessions of these tests take. */
function step(session: Session, at: number): Promise<StepAnswer> {
  return session.step(20, {
    ...(at % 3 === 0 && { rates_hz: { sugar: 50 + at } }),
    ...(at % 10 === 5 && { silence: at % 20 === 5 ? ['S_loom'] : [] }),
  });
}

describe('sessions whose service fails', () => {
  const dir = mkdtempSync(join(tmpdir(), 'faults-'));
  const exitAfterTrial = join(dir, 'exit-after-trial');
  let expected: StepAnswer[];
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startProcess();
    await service.untilReady();
    const session = await new NeuralExperimentClient(service.url).openSession(DOCUMENT);
    expected = [];
    for (let at = 0; at < STEPS; at++) expected.push(await step(session, at));
    await service.stop();
    expect(expected.reduce((sum, { spikes }) => sum + spikes, 0)).toBeGreaterThan(300);
  });
  afterEach(async () => {
    await service.stop();
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('a worker dies when it has computed a step: another one computes the same', async () => {
    service = await startProcess({ WORKERS: '2' }, { FAULT_EXIT_AFTER_TRIAL: exitAfterTrial });
    await service.untilReady();
    const session = await new NeuralExperimentClient(service.url).openSession(DOCUMENT);
    for (let at = 0; at < STEPS; at++) {
      if (at % 20 === 7) writeFileSync(exitAfterTrial, '');
      expect(await step(session, at)).toEqual(expected[at]);
      expect(existsSync(exitAfterTrial)).toBe(false);
    }
    await until(async () => (await service.metric('nes_worker_restarts_total')) === 3);
    observed('a worker dies over a step', `3 workers died in ${STEPS} steps; all answers as without`);
  });

  it('the process is killed: the client goes on by itself, also in a branch', async () => {
    const port = String(await freePort());
    const restart = async () => {
      service = await startProcess({ PORT: port });
      await service.untilReady();
    };
    await restart();
    const session = await new NeuralExperimentClient(service.url).openSession(DOCUMENT);
    let branch: Session | undefined;
    let goneMs = 0;
    for (let at = 0; at < STEPS; at++) {
      if (at === 25) {
        await session.document();
        branch = await session.branch({ rates_hz: { loom: 30 } });
      }
      if (at === 12 || at === 40) {
        service.child.kill('SIGKILL');
        await service.exited();
        const startedMs = performance.now();
        const [answer] = await Promise.all([step(session, at), restart()]);
        goneMs = performance.now() - startedMs;
        expect(answer).toEqual(expected[at]);
      } else {
        expect(await step(session, at)).toEqual(expected[at]);
      }
      if (branch !== undefined) expect(await step(branch, at)).toEqual(expected[at]);
    }
    observed(
      'the process of a session is killed',
      `killed twice in ${STEPS} steps; all answers as without, the step of the second after ${Math.round(goneMs)} ms`,
    );
  });

  it('one client asks for a thousand sessions: it gets eight, and steps and runs are answered meanwhile', async () => {
    service = await startProcess();
    await service.untilReady();
    const client = new NeuralExperimentClient(service.url);
    const session = await client.openSession(DOCUMENT);
    const asked = Promise.all(
      Array.from({ length: 1000 }, () =>
        fetch(`${service.url}/api/v2/sessions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(DOCUMENT),
        }).then(
          async (answer) => [answer.status, ((await answer.json()) as { code?: string }).code] as const,
        ),
      ),
    );
    for (let at = 0; at < 20; at++) {
      expect(await step(session, at)).toEqual(expected[at]);
      expect((await client.run({ seed: at }, { view: 'drive' })).model).toEqual(expect.any(String));
    }
    const answers = await asked;
    expect(answers.filter(([status]) => status === 201)).toHaveLength(7);
    expect(answers.filter(([status, code]) => status === 503 && code === 'QUEUE_FULL')).toHaveLength(993);
    expect(await service.metric('nes_sessions')).toBe(8);
    observed(
      'one client asks for a thousand sessions',
      '8 are open, 993 answered 503; steps and runs all 200',
    );
  });
});
