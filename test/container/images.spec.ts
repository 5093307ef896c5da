/**
 * npm run test:container: the images of docker/Dockerfile are built and run for real, alone, by Compose and as the
 * Deployments of Kubernetes. Minutes, so not a part of `npm test`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { readEnvironment } from '../../src/service/config/environment.js';
import { STIMULUS_IDS } from '../../src/experiments/presets/populations.js';
import { connectomeFile } from '../support/connectomes.js';
import { baseImage } from '../support/base-image.js';
import { Container, ContainerEngine, HARDENED } from '../support/containers.js';
import { freePort } from '../support/free-port.js';
import { sendRun } from '../support/load.js';
import { describeWith } from '../support/requirements.js';
import { until, valueOf } from '../support/service-process.js';

const MINUTES = 60_000;
const DEFAULTS = readEnvironment({});
const PASSWORD = 'secret';
const LIMITED = [...HARDENED, '--memory', '512m', '--env', 'WORKERS=1', '--env', 'RATE_LIMIT=0'];
const PRINT_METRICS = `fetch('http://127.0.0.1:${DEFAULTS.METRICS_PORT}/metrics').then(async (answer) => console.log(await answer.text()));`;
/** Exit code after SIGKILL, which only the kernel sends here, when memory is used up. */
const KILLED = 137;

/** Building and running images has a command of its own. */
const describeOnDemand: typeof describeWith =
  process.env['CONTAINERS'] === undefined
    ? (_, name, body) => describe.skip(`${name} (npm run test:container)`, body) // It builds images, which takes minutes: on demand, and in CI.
    : describeWith;

describeOnDemand(['podman'], 'containers', () => {
  const engine = new ContainerEngine();
  let images: { cpu: string; gpu: string; standIns: string };

  beforeAll(async () => {
    const base = await timed('base image', () => baseImage(engine));
    const args = ['--build-arg', `NODE_IMAGE=${base}`, '--file', 'docker/Dockerfile'];
    // Every stage gets a name, or podman would keep those of the build for good.
    const build = (target: string) =>
      timed(target, () => engine.build(target, [...args, '--target', target]));
    await build('dependencies');
    await build('build');
    const [cpu, gpu] = [await build('cpu'), await build('gpu')];
    const context = join(engine.folder, 'stand-ins');
    mkdirSync(context);
    writeFileSync(
      join(context, 'Containerfile'),
      `FROM ${base}\nRUN apt-get update && apt-get install -y --no-install-recommends nginx-light redis-server\n` +
        'RUN mkdir /data && chown 999:1000 /data\n',
    );
    const standIns = await timed('nginx and Redis', () => engine.build('stand-ins', [], context));
    images = { cpu, gpu, standIns };
    // The build takes some 5 minutes on two idle cores.
  }, 30 * MINUTES);
  afterAll(() => engine.dispose(), 2 * MINUTES);

  describe('an image', () => {
    let containers: Container[] = [];
    afterEach(async () => {
      for (const { name } of containers) await engine.podman('rm', '--force', '--time', '0', name);
      containers = [];
    }, MINUTES);

    async function start(
      image: string,
      options: readonly string[],
      command?: readonly string[],
    ): Promise<Container> {
      const container = await engine.start(image, options, command);
      containers.push(container);
      return container;
    }

    it.each(['cpu', 'gpu'] as const)(
      '%s gives the bytes of every other machine, read-only, without rights, in 512 MB',
      async (target) => {
        const container = await start(images[target], [...LIMITED, '--env', 'BACKEND=cpu']);
        const { Config, HostConfig, EffectiveCaps } = await container.inspect();
        expect([Config.User, HostConfig.ReadonlyRootfs, EffectiveCaps ?? []]).toEqual([
          '1000:1000',
          true,
          [],
        ]);
        expect(HostConfig.Memory).toBe(512 * 2 ** 20);

        const url = await container.untilReady();
        const golden = JSON.parse(readFileSync('test/experiments/bodies.json', 'utf8')) as Record<
          string,
          string
        >;
        const digests = await Promise.all(
          Object.keys(golden).map(async (request) => [request, await digestOf(url, request)] as const),
        );
        expect(Object.fromEntries(digests)).toEqual(golden);
        const sent = STIMULUS_IDS.flatMap((stimulus) => [1, 2].map((seed) => ({ stimulus, seed })));
        const answers = await Promise.all(sent.map((body) => sendRun(url, body)));
        expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 200));
        expect((await container.inspect()).State).toMatchObject({ Status: 'running' });

        expect(await container.health()).toBe(0);
        expect(await container.stop()).toBe(0);
      },
      3 * MINUTES,
    );

    it(
      'belongs to a Python that asks for it, and ends with it, however that ends',
      async () => {
        const script = `
import os, sys
from neural_experiment_client import Lab
with Lab.local(image=sys.argv[1], variables={'WORKERS': 1}) as lab:
    print(len(lab.neurons('DNp01')))
lab = Lab.local('mine', checkout=sys.argv[2], image=sys.argv[1], variables={'WORKERS': 1})
print(lab.run(inputs={'a': 'LC4'}, reports={'r': 'DNp01'}, trials=1, duration_ms=10).json['wiring'], flush=True)
os.kill(os.getpid(), 9)
`;
        const env = { ...engine.environment, PYTHONPATH: 'clients/python', PYTHONDONTWRITEBYTECODE: '1' };
        // A checkout that is not built: its brains are all that is needed of it.
        const checkout = join(engine.folder, 'checkout');
        for (const folder of ['data', 'src']) mkdirSync(join(checkout, folder), { recursive: true });
        for (const file of ['package.json', 'src/main.ts']) writeFileSync(join(checkout, file), '');
        copyFileSync(await connectomeFile('default'), join(checkout, 'data/mine.connectome'));
        const given = [images.cpu, checkout];
        const { stdout, stderr, signal } = spawnSync('python3', ['-W', 'ignore', '-c', script, ...given], {
          env,
          encoding: 'utf8',
        });
        expect({ stdout, signal }).toEqual({ stdout: '2\nsynthetic\n', signal: 'SIGKILL' });
        expect(stderr).toMatch(/^Started a service of .* \(its own brain\) at http:.* from .*cpu/);
        const running = () => engine.podman('ps', '--quiet', '--filter', `ancestor=${images.cpu}`);
        await until(async () => (await running()) === '');
      },
      3 * MINUTES,
    );

    it(
      'gpu has the loader of Vulkan, and ends with 1 if it finds no GPU',
      async () => {
        const ended = async (command: readonly string[]) => {
          const container = await start(images.gpu, LIMITED, command);
          await until(async () => (await container.inspect()).State.Status === 'exited');
          return container;
        };
        expect((await (await ended([])).inspect()).State).toMatchObject({ ExitCode: 1 });
        expect(await (await ended(['ldconfig', '-p'])).log()).toContain('libvulkan.so.1');
      },
      2 * MINUTES,
    );

    it(
      'holds the files that the service needs and none of its tests',
      async () => {
        const container = await start(images.cpu, HARDENED);
        const found = await container.evaluate(`
        import { readdirSync } from 'node:fs';
        const built = readdirSync('dist', { recursive: true });
        const packages = ['jest', 'oxlint', 'vite'].filter((name) => readdirSync('node_modules').includes(name));
        // Commands with --url need this client.
        const { NeuralExperimentClient } = await import('#client');
        const specs = built.filter((name) => /\\.spec\\./.test(name));
        console.log(JSON.stringify([readdirSync('.'), specs, packages, typeof NeuralExperimentClient]));
      `);
        const kept = [
          'LICENSE',
          'NOTICE',
          'clients',
          'data',
          'dist',
          'examples',
          'node_modules',
          'package.json',
        ];
        expect(JSON.parse(found)).toEqual([kept, [], [], 'function']);
      },
      MINUTES,
    );

    it.each([
      ['127.0.0.1', '127.0.0.1'],
      ['::', '::1'],
      ['::1', '::1'],
    ])(
      'is found healthy where HOST is %s, on a port of its own',
      async (host, asked) => {
        const container = await start(images.cpu, [
          ...LIMITED,
          '--env',
          `HOST=${host}`,
          '--env',
          'PORT=8001',
        ]);
        const ask = `
        import { get } from 'node:http';
        const say = (what) => (console.log(what), process.exit());
        get({ host: '${asked}', port: 8001, path: '/livez' }, ({ statusCode }) => say(statusCode))
          .on('error', ({ code }) => say(code));
      `;
        await until(async () => (await container.evaluate(ask)) === '200');
        expect(await container.health()).toBe(0);
      },
      MINUTES,
    );

    it(
      'is found ill where nothing listens',
      async () => {
        const container = await start(images.cpu, LIMITED, ['node', '--eval', 'setInterval(() => {}, 1000)']);
        expect(await container.health()).toBe(1);
      },
      MINUTES,
    );

    it(
      'answers every run that it accepted when it is told to stop',
      async () => {
        const container = await start(images.cpu, [...LIMITED, '--env', 'QUEUE_LIMIT=1000']);
        const url = await container.untilReady();
        let answered = 0;
        const runs = Array.from({ length: 200 }, (_, seed) =>
          sendRun(url, { stimulus: 'food', duration_ms: 200, intensity: 2, seed }).finally(() => answered++),
        );
        await until(async () => {
          const metrics = await container.evaluate(PRINT_METRICS);
          const queued = (state: string) => valueOf(metrics, `nes_queue_runs{state="${state}"}`) ?? 0;
          return answered + queued('waiting') + queued('running') >= runs.length;
        });
        expect(await container.stop()).toBe(0);
        expect((await Promise.all(runs)).map(({ status }) => status)).toEqual(runs.map(() => 200));
      },
      MINUTES,
    );

    it.each([100, 200, 300, 400, 500])(
      'stops with 0, %d ms after its start',
      async (ms) => {
        const container = await start(images.cpu, LIMITED);
        await new Promise((next) => setTimeout(next, ms));
        expect(await container.stop()).toBe(0);
      },
      MINUTES,
    );

    it(
      'opens no debugger on SIGUSR1',
      async () => {
        const container = await start(images.cpu, LIMITED);
        const url = await container.untilReady();
        expect((await container.inspect()).Config.Cmd).toContain('--disable-sigusr1');
        await engine.podman('kill', '--signal', 'SIGUSR1', container.name);
        // Node says so when it opens one.
        const open = `
        import { connect } from 'node:net';
        for (let tries = 0; tries < 10; tries++) {
          await new Promise((next) => setTimeout(next, 100));
          await new Promise((next) => {
            connect(9229, '127.0.0.1').on('connect', () => { console.log('open'); process.exit(); }).on('error', next);
          });
        }
      `;
        expect(await container.evaluate(open)).toBe('');
        expect((await fetch(`${url}/livez`)).status).toBe(200);
      },
      MINUTES,
    );

    it(
      'ends with 137 where its memory does not suffice, and is started again',
      async () => {
        const options = [...HARDENED, '--memory', '96m', '--restart', 'on-failure:1'];
        const container = await start(images.cpu, options);
        await until(async () => {
          const { State, RestartCount } = await container.inspect();
          return State.Status === 'exited' && RestartCount === 1;
        });
        expect((await container.inspect()).State).toMatchObject({ ExitCode: KILLED });
      },
      MINUTES,
    );
  });

  describe('docker/compose.yaml, two replicas behind nginx with Redis', () => {
    const LIMIT = 12;
    const network = (name: string) => `${engine.name}_${name}`;
    const container = (service: string) => new Container(engine, `${engine.name}_${service}_1`);
    const replicas = [container('replica-1'), container('replica-2')];
    let services: Record<string, Record<string, unknown>>;
    let url: string;

    beforeAll(async () => {
      const port = await freePort();
      ({ services } = parse(readFileSync('docker/compose.yaml', 'utf8'), { merge: true }));
      services = structuredClone(services);
      for (const service of Object.values(services)) {
        delete service['build'];
        if (service['image'] === 'neural-experiment-service:cpu') service['image'] = images.cpu;
        service['volumes'] = (service['volumes'] as string[] | undefined)?.map((volume) =>
          volume
            .replace('${CONNECTOMES:-./connectomes}', './connectomes')
            .replace(/^\.\//, `${resolve('docker')}/`),
        );
      }
      services['redis']!['image'] = images.standIns;
      services['redis-jobs']!['image'] = images.standIns;
      // The command of the image that is replaced.
      Object.assign(services['nginx']!, {
        image: images.standIns,
        command: ['nginx', '-g', 'daemon off;'],
        ports: [`127.0.0.1:${port}:8080`],
      });
      const { networks, volumes } = parse(readFileSync('docker/compose.yaml', 'utf8')) as {
        networks: object;
        volumes: object;
      };
      const file = join(engine.folder, 'compose.yaml');
      writeFileSync(file, stringify({ services, networks, volumes }));
      Object.assign(engine.environment, {
        REDIS_PASSWORD: PASSWORD,
        RATE_LIMIT: String(LIMIT),
        WORKERS: '1',
      });
      await engine.compose('-f', file, 'up', '--detach', 'nginx');
      url = `http://127.0.0.1:${port}`;
      for (const replica of replicas) await replica.untilReady(DEFAULTS.PORT, network('front'));
    }, 3 * MINUTES);

    it.each(['replica-1', 'replica-2', 'nginx', 'redis', 'redis-jobs'])(
      '%s runs without rights',
      async (service) => {
        const { Config, HostConfig, EffectiveCaps, State } = await container(service).inspect();
        expect([State.Status, HostConfig.ReadonlyRootfs, EffectiveCaps ?? []]).toEqual(['running', true, []]);
        expect(Config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
        expect(HostConfig.Memory).toBeGreaterThan(0);
      },
    );

    it('share one rate limit for each client, whom nginx names', async () => {
      const statuses: number[] = [];
      for (let seed = 0; seed < 2 * LIMIT; seed++) statuses.push((await sendRun(url, { seed })).status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
      expect(statuses.filter((status) => status === 429)).toHaveLength(LIMIT);
      for (const replica of replicas) {
        const ready = await fetch(`${await replica.url(DEFAULTS.PORT, network('front'))}/readyz`);
        expect(await ready.json()).toMatchObject({ status: 'ready' });
      }
    });

    it('Redis answers who knows the password, and nginx does not find it', async () => {
      const ping = (password: string) => `
        import { connect } from 'node:net';
        const socket = connect(6379, 'redis').setEncoding('utf8');
        let answer = '';
        socket.on('data', (text) => (answer += text)).on('close', () => console.log(answer));
        socket.end('AUTH ${password}\\r\\nPING\\r\\nQUIT\\r\\n');
      `;
      expect(await replicas[0]!.evaluate(ping('wrong'))).toMatch(/^-WRONGPASS.*\n-NOAUTH/s);
      expect(await replicas[0]!.evaluate(ping(PASSWORD))).toMatch(/^\+OK\r\n\+PONG/);
      expect(await engine.status('exec', container('nginx').name, 'getent', 'hosts', 'replica-1')).toBe(0);
      expect(await engine.status('exec', container('nginx').name, 'getent', 'hosts', 'redis')).not.toBe(0);
    });

    it('Redis does not start without a password', async () => {
      const command = services['redis']!['command'] as string[];
      const unescaped = command.map((word) => word.replaceAll('$$', '$'));
      expect(await engine.status('run', '--rm', images.standIns, ...unescaped)).toBe(2);
    });

    it('let Prometheus read their metrics from outside', async () => {
      const ask = `fetch('http://replica-1:${DEFAULTS.METRICS_PORT}/metrics').then(async (answer) => console.log(await answer.text()));`;
      expect(valueOf(await replicas[1]!.evaluate(ask), 'nes_model_state{state="ready"}')).toBe(1);
    });

    it('answer as one if one of them is gone', async () => {
      expect(await replicas[0]!.stop()).toBe(0);
      // Refused by the limit of both, or answered by the one that is left.
      expect([200, 429]).toContain((await sendRun(url, {})).status);
      expect((await fetch(`${url}/api/v1/model`)).status).toBe(200);
    });
  });

  describe('docker/kubernetes.yaml, played by podman', () => {
    const documents = parseAllDocuments(readFileSync('docker/kubernetes.yaml', 'utf8')).map((each) =>
      each.toJS(),
    );

    const network = `${engine.name}-pods`;

    async function play(name: string, image: string): Promise<Container> {
      const deployment = documents.find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name === name,
      );
      const [container] = deployment.spec.template.spec.containers;
      container.image = image;
      // Podman would ask with curl, which the image does not have.
      delete container.livenessProbe;
      // It would also publish these on the host, on which two cannot be equal.
      delete container.ports;
      for (const variable of container.env) {
        if (variable.valueFrom !== undefined) variable.valueFrom.secretKeyRef.name = engine.name;
        // Kubernetes fills in $(NAME), podman does not.
        variable.value = variable.value?.replace('$(REDIS_PASSWORD)', PASSWORD);
      }
      deployment.metadata.name = `${engine.name}-${name}`;
      const file = join(engine.folder, `${name}.yaml`);
      writeFileSync(file, stringify(deployment));
      await engine.podman('kube', 'play', '--network', `${network}:alias=${name}`, file);
      return new Container(engine, `${engine.name}-${name}-pod-0-${container.name}`);
    }

    it(
      'serves with the limit of Redis, without rights, and ends with 0',
      async () => {
        const secret = join(engine.folder, 'secret.json');
        writeFileSync(secret, JSON.stringify({ password: Buffer.from(PASSWORD).toString('base64') }));
        await engine.podman('secret', 'create', engine.name, secret);
        await engine.podman('network', 'create', network);
        const redis = await play('neural-experiment-redis', images.standIns);
        await until(async () => (await redis.log()).includes('Ready to accept connections'));
        const redisJobs = await play('neural-experiment-redis-jobs', images.standIns);
        await until(async () => (await redisJobs.log()).includes('Ready to accept connections'));
        const service = await play('neural-experiment-service', images.cpu);
        const url = await service.untilReady(DEFAULTS.PORT, network);
        for (const container of [redis, redisJobs, service]) {
          const { HostConfig, EffectiveCaps } = await container.inspect();
          expect([HostConfig.ReadonlyRootfs, EffectiveCaps ?? []]).toEqual([true, []]);
          expect(HostConfig.Memory).toBeGreaterThan(0);
        }
        expect((await sendRun(url, {})).status).toBe(200);
        expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'ready' });
        const keys = ['redis-cli', '--no-auth-warning', '-a', PASSWORD, 'keys', 'nes:runs:*'];
        expect(await engine.podman('exec', redis.name, ...keys)).toContain('nes:runs:');
        expect(await service.stop()).toBe(0);
      },
      3 * MINUTES,
    );
  });
});

/** SHA-256 of an answer, as test/experiments/bodies.json names request and answer. */
async function digestOf(url: string, request: string): Promise<string> {
  const [view, body] = request.split(' ');
  const response = await fetch(`${url}/api/v1/run?view=${view}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return `${response.status} ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Says on standard error how long a step took: a build that says nothing for minutes looks stuck. */
async function timed<T>(name: string, step: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await step();
  process.stderr.write(`${name}: ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
  return result;
}
