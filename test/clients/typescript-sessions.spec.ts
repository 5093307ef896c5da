/** Sessions of the typed client with a real service, also one that loses them. */
import {
  type ExperimentDocument,
  NeuralExperimentClient,
  type Session,
  type SessionChanges,
  type StepAnswer,
} from '../../clients/typescript/src/client.js';
import { startReadyService, type Service } from '../support/service.js';
import { until } from '../support/service-process.js';

const PATH = '/api/v2/sessions';
const DOCUMENT: ExperimentDocument = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 0 }, loom: { node_set: 'S_loom', rate_hz: 40 } },
  reports: { spikes: { node_set: '@all', type: 'spikes' } },
  seed: 3,
};
const CHANGES: readonly SessionChanges[] = [
  { rates_hz: { sugar: 90 } },
  {},
  { silence: ['S_loom'] },
  { rates_hz: { loom: 120 } },
  { silence: [] },
];

describe('sessions with the typed client', () => {
  let service: Service;
  let client: NeuralExperimentClient;
  /** Requests of the client, such as "POST /api/v2/sessions". */
  let asked: string[];
  /** The same course over plain HTTP. */
  let expected: StepAnswer[];
  const opened: Session[] = [];

  beforeAll(async () => {
    service = await startReadyService();
    client = new NeuralExperimentClient(service.url, {
      fetch: (url, init) => {
        asked.push(`${init?.method ?? 'GET'} ${new URL(url as string).pathname}`);
        return fetch(url, init);
      },
    });
    const send = async (body: object, path: string) =>
      (await service.post(body, path, { 'content-type': 'application/json' })).json();
    const { session } = await send(DOCUMENT, PATH);
    expected = [];
    for (const [at, changes] of CHANGES.entries()) {
      expected.push(await send({ t_ms: 20 * at, duration_ms: 20, ...changes }, `${PATH}/${session}/steps`));
    }
    await service.delete(`${PATH}/${session}`);
    expect(new Set(expected.map(({ spikes }) => spikes)).size).toBe(CHANGES.length);
  });
  beforeEach(() => {
    asked = [];
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((session) => session.end()));
  });
  afterAll(() => service.stop());

  it('are watched by others, step for step, until they end', async () => {
    const session = await client.openSession(DOCUMENT);
    opened.push(session);
    const seen: StepAnswer[][] = [[], [], []];
    const watching = seen.map(async (steps) => {
      for await (const step of client.watchSession(session.name)) steps.push(step);
    });
    await until(() => asked.filter((each) => each.endsWith('/events')).length === 3);
    await session.step(20, CHANGES[0]);
    // Watchers that come during a step miss it.
    await until(() => seen.every(({ length }) => length === 1));
    for (const changes of CHANGES.slice(1)) await session.step(20, changes);
    await session.end();
    await Promise.all(watching);
    expect(seen).toEqual([expected, expected, expected]);
    await expect(client.watchSession(session.name).next()).rejects.toMatchObject({ code: 'SESSION_ENDED' });
  });

  async function open(document = DOCUMENT): Promise<Session> {
    const session = await client.openSession(document);
    opened.push(session);
    return session;
  }

  async function branchOf(session: Session, changes = {}): Promise<Session> {
    const branch = await session.branch(changes);
    opened.push(branch);
    return branch;
  }

  async function stepsOf(session: Session, changes = CHANGES): Promise<StepAnswer[]> {
    const answers = [];
    for (const each of changes) answers.push(await session.step(20, each));
    return answers;
  }

  /** As another client would that knows its name, or a service that is replaced. */
  async function lose(session: Session): Promise<void> {
    await session.document();
    const path = asked.at(-1)!.replace('GET ', '').replace('/document', '');
    expect((await service.delete(path)).status).toBeLessThan(300);
    expect((await service.get(path)).status).toBe(404);
  }

  it('steps as over plain HTTP, and asks once for each', async () => {
    const session = await open();
    expect(session.tMs).toBe(0);
    expect(await stepsOf(session)).toEqual(expected);
    expect(session.tMs).toBe(100);
    expect(asked).toHaveLength(1 + CHANGES.length);
    const plain = await session.step(20);
    expect(plain).not.toHaveProperty('drive');
    expect(plain.t_ms).toBe(120);
    expect((await session.step(20, {}, { drive: true })).drive).toMatchObject({ walk: expect.any(Number) });
  });

  it('gives a document that replays it, and goes on from its end', async () => {
    const session = await open();
    const answers = await stepsOf(session, CHANGES.slice(0, 3));
    const document = await session.document();
    const { conditions } = await client.runExperiment(document).answer();
    const spikes = conditions[0]!.reports['spikes'] as unknown as { readonly t_ms: readonly number[] };
    expect(spikes.t_ms).toHaveLength(answers.reduce((sum, each) => sum + each.spikes, 0));
    const again = await open(document);
    expect(again.tMs).toBe(60);
    expect(await stepsOf(again, CHANGES.slice(3))).toEqual(expected.slice(3));
  });

  it('branches: the same without changes, another with some, whichever goes first', async () => {
    const session = await open();
    await stepsOf(session, CHANGES.slice(0, 1));
    const [same, silent] = [await branchOf(session), await branchOf(session, { silence: ['@all'] })];
    expect([same.tMs, silent.tMs]).toEqual([20, 20]);
    expect((await silent.step(20)).spikes).toBeLessThan(expected[1]!.spikes);
    expect(await silent.document()).toMatchObject({ silence: [{ node_set: '@all', start_ms: 20 }] });
    expect(await stepsOf(same, CHANGES.slice(1))).toEqual(expected.slice(1));
    expect(await stepsOf(session, CHANGES.slice(1))).toEqual(expected.slice(1));
  });

  it('opens a session again that another client has ended, and a branch of it, before and after its first step', async () => {
    const session = await open();
    await stepsOf(session, CHANGES.slice(0, 2));
    const branch = await branchOf(session, CHANGES[2]);
    await lose(session);
    expect(await stepsOf(session, CHANGES.slice(2, 4))).toEqual(expected.slice(2, 4));
    await lose(session);
    expect(await session.step(20, CHANGES[4])).toEqual(expected[4]);

    await lose(branch);
    expect(await branch.step(20)).toEqual(expected[2]);
    await lose(branch);
    expect(await stepsOf(branch, CHANGES.slice(3))).toEqual(expected.slice(3));
  });

  it('keeps all changes of a branch that is lost before its first step, and of a branch of it', async () => {
    const session = await open();
    await stepsOf(session, CHANGES.slice(0, 1));
    const later = [{ rates_hz: { loom: 150 } }, {}] as const;
    const answersOf = async (isLost: boolean) => {
      const branch = await branchOf(session, { rates_hz: { sugar: 10 } });
      const second = await branchOf(branch, { rates_hz: { loom: 5 }, silence: ['S_sugar'] });
      // Neither has asked for its document, so each goes on from that of the first session.
      if (isLost) for (const { name } of [branch, second]) await service.delete(`${PATH}/${name}`);
      return [await stepsOf(branch, later), await stepsOf(second, later)];
    };
    const undisturbed = await answersOf(false);
    expect(await answersOf(true)).toEqual(undisturbed);
    expect(undisturbed[0]).not.toEqual(undisturbed[1]);
  });

  it('writes the changes of a branch that is lost into its document, and of a branch of it', async () => {
    // The document of a later time has changes only after the next step.
    const session = await open();
    const documentsOf = async (isLost: boolean) => {
      const branch = await branchOf(session, { rates_hz: { sugar: 10 } });
      if (isLost) await service.delete(`${PATH}/${branch.name}`);
      const second = await branchOf(branch, { silence: ['S_sugar'] });
      const ofSecond = await second.document();
      if (isLost) await service.delete(`${PATH}/${branch.name}`);
      return [await branch.document(), ofSecond];
    };
    const undisturbed = await documentsOf(false);
    expect(await documentsOf(true)).toEqual(undisturbed);
    expect(undisturbed[0]).not.toEqual(undisturbed[1]);
  });

  it('goes on after a step whose answer was not waited for', async () => {
    const session = await open();
    await stepsOf(session, CHANGES.slice(0, 1));
    const stop = new AbortController();
    const step = session.step(20, CHANGES[1], { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(step).rejects.toThrow('enough');
    expect(await stepsOf(session, CHANGES.slice(2))).toEqual(expected.slice(2));
    expect(session.tMs).toBe(100);
  });

  it('goes on after a step whose answer is lost and whose repetition is refused', async () => {
    const refusal = { error: 'The allowance is spent.', code: 'RATE_LIMITED' };
    const headers = { 'content-type': 'application/json', 'retry-after': '600' };
    const troubles = ['lost', 'refused'];
    const troubled = new NeuralExperimentClient(service.url, {
      fetch: async (url, init) => {
        const isStep = String(url).includes('/steps') && String(init?.body).includes('"t_ms":20,');
        const trouble = isStep ? troubles.shift() : undefined;
        if (trouble === 'refused') return new Response(JSON.stringify(refusal), { status: 429, headers });
        const answer = await fetch(url, init);
        if (trouble === 'lost') throw new TypeError('The connection broke.');
        return answer;
      },
    });
    const session = await troubled.openSession(DOCUMENT);
    opened.push(session);
    await stepsOf(session, CHANGES.slice(0, 1));
    await expect(session.step(20, CHANGES[1], { drive: true })).rejects.toMatchObject({ code: refusal.code });
    expect(await stepsOf(session, CHANGES.slice(2))).toEqual(expected.slice(2));
    expect(session.tMs).toBe(100);
  });

  it('repeats a step whose answer a gateway has lost, whatever the JSON of the gateway', async () => {
    const answers = [
      '{"code":504,"message":"upstream request timeout"}',
      '{"error":{"code":504,"message":"upstream request timeout"}}',
    ];
    const troubled = new NeuralExperimentClient(service.url, {
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        const lost = String(url).includes('/steps') ? answers.shift() : undefined;
        return lost === undefined ? answer : new Response(lost, { status: 504 });
      },
    });
    const session = await troubled.openSession(DOCUMENT);
    opened.push(session);
    expect(await stepsOf(session)).toEqual(expected);
    expect(answers).toEqual([]);
  });

  it('forgets a step that the service refuses after no answer', async () => {
    let isLost = true;
    const troubled = new NeuralExperimentClient(service.url, {
      fetch: (url, init) => {
        const isFirst = isLost && String(url).includes('/steps');
        if (!isFirst) return fetch(url, init);
        isLost = false;
        return Promise.reject(new TypeError('The connection broke.'));
      },
    });
    const session = await troubled.openSession(DOCUMENT);
    opened.push(session);
    const salted = session.step(20, { rates_hz: { salt: 1 } });
    await expect(salted).rejects.toMatchObject({ code: 'INVALID_PARAMETER' });
    expect(await stepsOf(session)).toEqual(expected);
  });

  it('gives the answer of a step although the document cannot be had after it', async () => {
    const troubled = new NeuralExperimentClient(service.url, {
      fetch: (url, init) =>
        String(url).endsWith('/document') ? Promise.reject(new TypeError('lost')) : fetch(url, init),
    });
    const session = await troubled.openSession(DOCUMENT);
    opened.push(session);
    for (let at = 0; at < 501; at++) expect((await session.step(1)).t_ms).toBe(at + 1);
  });

  it('goes on if steps come so late that the service has ended the session', async () => {
    const impatient = await startReadyService({}, { limits: { sessionIdleMs: 3000 } });
    try {
      let opened = '';
      const late = new NeuralExperimentClient(impatient.url, {
        fetch: async (url, init) => {
          const answer = await fetch(url, init);
          opened = answer.headers.get('location') ?? opened;
          return answer;
        },
      });
      const session = await late.openSession(DOCUMENT);
      for (const [at, changes] of CHANGES.entries()) {
        if (at === 3) await until(async () => (await impatient.get(opened)).status === 404);
        expect(await session.step(20, changes)).toEqual(expected[at]);
      }
    } finally {
      await impatient.stop();
    }
  });

  it('repeats few steps however long a session was', async () => {
    const session = await open();
    for (let at = 0; at < 500; at++) await session.step(1);
    expect(asked.at(-1)).toMatch(/^GET .*\/document$/);
    const path = asked.at(-1)!.slice('GET '.length, -'/document'.length);
    await service.delete(path);
    asked = [];
    expect((await session.step(1)).t_ms).toBe(501);
    // The step that is refused, the session again, and the step.
    expect(asked).toEqual([`POST ${path}/steps`, `POST ${PATH}`, expect.stringMatching(/^POST .*\/steps$/)]);
  });

  it('ends, also if it has ended, and passes on refusals of the service', async () => {
    const session = await open();
    await expect(session.step(0)).rejects.toMatchObject({ status: 400 });
    await expect(session.step(20, { rates_hz: { salt: 1 } })).rejects.toMatchObject({ status: 400 });
    expect(session.tMs).toBe(0);
    expect(await stepsOf(session, CHANGES.slice(0, 1))).toEqual(expected.slice(0, 1));
    await session.end();
    await session.end();
  });

  it('is not opened again after it was ended here', async () => {
    const session = await open();
    await stepsOf(session, CHANGES.slice(0, 1));
    await session.end();
    asked = [];
    for (const late of [session.step(20), session.document(), session.branch()]) {
      await expect(late).rejects.toMatchObject({ name: 'ServiceError', code: 'SESSION_ENDED' });
    }
    expect(asked).toEqual([]);
    const other = await open();
    await service.delete(`${PATH}/${other.name}`);
    const underWay = expect(other.step(20)).rejects.toMatchObject({ code: 'SESSION_ENDED' });
    await other.end();
    await underWay;
    expect(asked.filter((each) => each === `POST ${PATH}`)).toHaveLength(1);
  });

  it('leaves no session behind if it is ended while it is opened again', async () => {
    let opens = 0;
    const deleted: string[] = [];
    const ending = new NeuralExperimentClient(service.url, {
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (init?.method === 'DELETE') deleted.push(new URL(url as string).pathname);
        if (init?.method === 'POST' && String(url).endsWith(PATH) && ++opens === 2) await session.end();
        return response;
      },
    });
    const session = await ending.openSession(DOCUMENT);
    const first = session.name;
    await service.delete(`${PATH}/${first}`);
    await expect(session.step(20)).rejects.toMatchObject({ code: 'SESSION_ENDED' });
    expect(opens).toBe(2);
    expect(deleted).toHaveLength(2);
    expect((await service.get(deleted[1]!)).status).toBe(404);
  });
});
