/** Compares the files of docker/ with their subjects: the repository, the configuration, the routes, the metrics. */
import { existsSync, readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { parse, parseAllDocuments } from 'yaml';
import { MEANINGS, readEnvironment } from '../../src/service/config/environment.js';

const DEFAULTS = readEnvironment({});
const dockerfile = readFileSync('docker/Dockerfile', 'utf8');
const stageNames = [...dockerfile.matchAll(/^FROM \S+ AS (\w+)$/gm)].map(([, name]) => name!);

/** Faults that images.spec.ts cannot see when it builds and runs the images. */
describe('docker/Dockerfile', () => {
  it('pleases a linter', () => {
    const found = validate(dockerfile);
    expect(found.map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
  });

  it('has the images cpu and gpu, of the version of Node that is developed with', () => {
    expect(stageNames).toEqual(['dependencies', 'build', 'cpu', 'gpu']);
    const version = readFileSync('.nvmrc', 'utf8').trim();
    expect(dockerfile).toContain(`\nARG NODE_IMAGE=node:${version}-trixie-slim\n`);
  });

  it('says how to build the images by the names that the other files use', () => {
    const named = [...dockerfile.matchAll(/--target (\w+) -t (\S+) \.$/gm)];
    expect(named.map(([, target, image]) => [target, image])).toEqual(
      ['cpu', 'gpu'].map((target) => [target, `neural-experiment-service:${target}`]),
    );
  });

  it('exposes the default ports, and asks for the health at the default one', () => {
    expect(dockerfile).toContain(`\nEXPOSE ${DEFAULTS.PORT} ${DEFAULTS.METRICS_PORT}\n`);
    expect(dockerfile).toContain(`PORT || ${DEFAULTS.PORT},`);
  });

  it('has the published experiments, which are free, in the build and in the images', () => {
    expect(dockerfile.match(/^COPY examples\/\*\.json examples\/$/gm)).toHaveLength(2);
  });

  it('asks NVIDIA for the capabilities that Vulkan needs', () => {
    expect(dockerfile).toContain('NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility');
  });
});

interface ComposeService {
  readonly image?: string;
  readonly user?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string };
  readonly environment?: Record<string, string | null> | readonly string[];
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Record<string, { condition: string }>;
  readonly [member: string]: unknown;
}

const { services, networks, volumes } = parse(readFileSync('docker/compose.yaml', 'utf8'), {
  merge: true,
}) as {
  services: Record<string, ComposeService>;
  networks: Record<string, object | null>;
  volumes: Record<string, object | null>;
};

/** Value that Compose fills in if the shell sets none. */
function byDefault(value: string): string {
  return value.replace(/\$\{\w+:-([^}]*)\}/, '$1');
}

describe('docker/compose.yaml', () => {
  const own = Object.entries(services).filter(([, service]) => service.build !== undefined);

  it('has the service, one with a GPU, and two replicas behind nginx with Redis and Prometheus', () => {
    const profiles = Object.entries(services).map(([name, { profiles }]) => [name, profiles?.join()]);
    expect(Object.fromEntries(profiles)).toEqual({
      service: undefined,
      gpu: 'gpu',
      'replica-1': 'replicas',
      'replica-2': 'replicas',
      nginx: 'replicas',
      redis: 'replicas',
      'redis-jobs': 'replicas',
      prometheus: 'replicas',
    });
  });

  it.each(own)(
    '%s is built from a target that is there, sets only known variables, and may finish',
    (_, service) => {
      expect(service.build).toMatchObject({ context: '..', dockerfile: 'docker/Dockerfile' });
      expect(service.image).toBe(`neural-experiment-service:${service.build!.target}`);
      expect(stageNames).toContain(service.build!.target);
      const set = Object.fromEntries(
        Object.entries(service.environment!).map(([name, value]) => [name, byDefault(value ?? '')]),
      );
      expect(Object.keys(set).filter((name) => !(name in MEANINGS))).toEqual([]);
      expect(() => readEnvironment(set)).not.toThrow();
      expect(parseInt(String(service['stop_grace_period'])) * 1000).toBeGreaterThan(DEFAULTS.SHUTDOWN_MS);
    },
  );

  it.each(Object.entries(services))(
    '%s has no rights, writes nothing, and has a bounded memory and log',
    (_, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        mem_limit: expect.stringMatching(/\d[mg]\}?$/),
        logging: { options: { 'max-size': '50m', 'max-file': '3' } },
      });
    },
  );

  it.each(['redis', 'redis-jobs'])('lets only the replicas reach %s', (redis) => {
    const inside = (network: string) =>
      Object.keys(services).filter((name) =>
        (services[name]!['networks'] as string[] | undefined)?.includes(network),
      );
    const [network, ...others] = services[redis]!['networks'] as string[];
    expect(others).toEqual([]);
    expect(inside(network!)).toEqual(['replica-1', 'replica-2', redis]);
    expect(networks[network!]).toEqual({ internal: true });
  });

  it('gives jobs a Redis that evicts nothing and outlasts a restart', () => {
    const command = (name: string) => (services[name]!['command'] as string[]).join(' ');
    expect(command('redis-jobs')).toContain('--appendonly yes --dir /data --maxmemory 1gb');
    expect(command('redis-jobs')).toContain('--maxmemory-policy noeviction');
    expect(services['redis-jobs']!.volumes).toEqual(['jobs:/data']);
    expect(Object.keys(volumes)).toEqual(['jobs', 'jobs-on-disk']);
  });

  it('gives the jobs of a service without Redis a volume', () => {
    const path = `/app/${DEFAULTS.JOBS_PATH}`;
    for (const name of ['service', 'gpu']) expect(services[name]!.volumes).toContain(`jobs-on-disk:${path}`);
    const dockerfile = readFileSync('docker/Dockerfile', 'utf8');
    expect(dockerfile).toContain(`\nVOLUME ${path}\n`);
    // Group 0 may write to it, too.
    expect(dockerfile).toMatch(/mkdir --mode 0775 data\/jobs && chown 1000:0 data\/jobs\n/);
  });

  it('asks for a GPU and leaves the capabilities of the driver to the image', () => {
    expect(services['gpu']).toMatchObject({
      deploy: { resources: { reservations: { devices: [{ driver: 'nvidia', capabilities: ['gpu'] }] } } },
    });
  });

  it('leads its ports to those that are listened on', () => {
    const listened = [DEFAULTS.PORT, DEFAULTS.METRICS_PORT, 9090];
    const inside = Object.values(services).flatMap(({ ports = [] }) =>
      ports.map((port) => +port.split(':').at(-1)!),
    );
    expect(inside.length).toBeGreaterThan(0);
    expect(inside.filter((port) => !listened.includes(port))).toEqual([]);
    expect(readFileSync('docker/nginx.conf', 'utf8')).toContain(`listen ${DEFAULTS.PORT} `);
  });

  it('mounts files and folders that are there, or Docker would make them as root, and depends on services that are there', () => {
    const namedVolumes = volumes;
    for (const { volumes = [], depends_on = [] } of Object.values(services)) {
      const sources = volumes.map((volume) => byDefault(volume).split(':')[0]!);
      const files = sources.filter((source) => !(source in namedVolumes));
      expect(files.filter((file) => !existsSync(`docker/${file}`))).toEqual([]);
      const names = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      expect(names.filter((name: string) => services[name] === undefined)).toEqual([]);
    }
  });

  it('has the replicas that nginx and Prometheus know', () => {
    const replicas = Object.keys(services).filter((name) => name.startsWith('replica-'));
    const upstreams = [...readFileSync('docker/nginx.conf', 'utf8').matchAll(/^\s*server (\S+)/gm)];
    const all = replicas.map((name) => `${name}:${DEFAULTS.PORT}`);
    // Those of sessions, and of everything else.
    expect(upstreams.map(([, server]) => server).filter((server) => server !== '{')).toEqual([
      ...all,
      ...all,
    ]);
    const prometheus = parse(readFileSync('docker/prometheus.yml', 'utf8'));
    expect(prometheus.scrape_configs[0].static_configs[0].targets).toEqual(
      replicas.map((name) => `${name}:${DEFAULTS.METRICS_PORT}`),
    );
  });
});

describe('docker/nginx.conf', () => {
  const conf = readFileSync('docker/nginx.conf', 'utf8');
  const secondsOf = (directive: string) =>
    Number(new RegExp(`^\\s*${directive} (\\d+)s;`, 'm').exec(conf)![1]);

  it('waits for a run as long as it may take, and begins none again that took that long', () => {
    expect(secondsOf('proxy_read_timeout') * 1000).toBeGreaterThan(DEFAULTS.RUN_TIMEOUT_MS);
    expect(secondsOf('proxy_next_upstream_timeout') * 1000).toBeLessThan(DEFAULTS.RUN_TIMEOUT_MS);
  });

  it.each(['experiments', 'sessions'])('waits for %s, which send nothing for minutes', (route) => {
    const location = new RegExp(`location /api/v2/${route} {[^}]*proxy_read_timeout (\\d+)s;`).exec(conf);
    expect(Number(location![1])).toBeGreaterThanOrEqual(900);
  });
});

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

describe('docker/kubernetes.yaml', () => {
  const documents = parseAllDocuments(readFileSync('docker/kubernetes.yaml', 'utf8')).map((each) => {
    expect(each.errors).toEqual([]);
    return each.toJS();
  });
  const named = (wanted: string, name: string) =>
    documents.find(({ kind, metadata }) => kind === wanted && metadata.name === name);
  const NAME = 'neural-experiment-service';
  const REDIS = 'neural-experiment-redis';
  const REDIS_JOBS = 'neural-experiment-redis-jobs';
  const WORKER = 'neural-experiment-worker';
  const service = named('Service', NAME);
  const deployments = documents.filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name.startsWith(NAME),
  );

  it('has a service with its guards, Redis, and a deployment for either image', () => {
    expect(documents.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ['Service', NAME],
      ['PodDisruptionBudget', NAME],
      ['HorizontalPodAutoscaler', NAME],
      ['NetworkPolicy', NAME],
      ['NetworkPolicy', REDIS],
      ['Service', REDIS],
      ['Deployment', REDIS],
      ['NetworkPolicy', REDIS_JOBS],
      ['Service', REDIS_JOBS],
      ['PersistentVolumeClaim', REDIS_JOBS],
      ['Deployment', REDIS_JOBS],
      ['Deployment', NAME],
      ['Deployment', WORKER],
      ['NetworkPolicy', WORKER],
      ['HorizontalPodAutoscaler', WORKER],
      ['Deployment', `${NAME}-gpu`],
    ]);
    const targets = deployments.map(({ spec }) => spec.template.spec.containers[0].image.split(':')[1]);
    expect(targets).toEqual(['cpu', 'gpu']);
  });

  describe.each(deployments.map((each) => [each.metadata.name, each]))('%s', (_, { spec }) => {
    const pod = spec.template.spec;
    const [container] = pod.containers;

    it('selects the pods it makes, and the service does too', () => {
      const { labels } = spec.template.metadata;
      expect(labels).toMatchObject(spec.selector.matchLabels);
      expect(labels).toMatchObject(service.spec.selector);
      expect(labels).toMatchObject(named('PodDisruptionBudget', NAME).spec.selector.matchLabels);
    });

    it('sets variables that are there, to values that are allowed', () => {
      const [secret, ...variables] = [
        ...container.env.filter(({ name }: Variable) => name === 'REDIS_PASSWORD'),
        ...container.env.filter(({ name }: Variable) => name !== 'REDIS_PASSWORD'),
      ] as Variable[];
      expect(secret).toEqual(named('Deployment', REDIS).spec.template.spec.containers[0].env[0]);
      const set = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
      expect(Object.keys(set).filter((name) => !(name in MEANINGS))).toEqual([]);
      expect(() => readEnvironment(set)).not.toThrow();
      const { port } = named('Service', REDIS).spec.ports[0];
      expect(set['REDIS_URL']).toBe(`redis://:$(REDIS_PASSWORD)@${REDIS}:${port}`);
      expect(set['REDIS_JOBS_URL']).toBe(`redis://:$(REDIS_PASSWORD)@${REDIS_JOBS}:${port}`);
      // A core for each worker and one for the rest.
      expect(Number(container.resources.requests.cpu)).toBe(Number(set['WORKERS']) + 1);
    });

    it('probes paths that the service answers, at ports it listens on', () => {
      expect(container.livenessProbe.httpGet.path).toBe('/livez');
      expect(container.startupProbe.httpGet.path).toBe('/livez');
      expect(container.readinessProbe.httpGet.path).toBe('/readyz');
      const ports = Object.fromEntries(
        container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [
          name,
          containerPort,
        ]),
      );
      expect(ports).toEqual({ http: DEFAULTS.PORT, metrics: DEFAULTS.METRICS_PORT });
      expect(service.spec.ports[0].targetPort).toBe('http');
      expect(spec.template.metadata.annotations['prometheus.io/port']).toBe(String(DEFAULTS.METRICS_PORT));
    });

    it('may finish accepted requests before it is killed', () => {
      const pauseMs = container.lifecycle.preStop.sleep.seconds * 1000;
      expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(pauseMs + DEFAULTS.SHUTDOWN_MS);
    });

    it('is no root and writes nothing', () => {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    });
  });

  it('takes no variables of other services of the namespace, and trusts no network that has clients', () => {
    const pods = documents.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template.spec);
    expect(pods.map(({ enableServiceLinks }) => enableServiceLinks)).toEqual(pods.map(() => false));
    const variables = pods.flatMap(({ containers: [{ env }] }) => env as Variable[]);
    const trusted = variables.filter(({ name }) => name === 'TRUST_PROXY').map(({ value }) => value);
    expect(trusted).toEqual(deployments.map(() => ''));
  });

  it.each([
    [REDIS, 'redis', 'REDIS_URL'],
    [REDIS_JOBS, 'redis-jobs', 'REDIS_JOBS_URL'],
  ])('runs the Redis of Compose, which no service selects but its own: %s', (REDIS, composed, variable) => {
    const { template, selector } = named('Deployment', REDIS).spec;
    const [container] = template.spec.containers;
    const { image, command, user } = services[composed]!;
    const unescaped = (command as string[]).map((word) => word.replaceAll('$$', '$'));
    expect([container.image, container.args]).toEqual([image, unescaped]);
    const { runAsUser, runAsGroup, runAsNonRoot } = template.spec.securityContext;
    expect([`${runAsUser}:${runAsGroup}`, runAsNonRoot]).toEqual([user, true]);
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    expect(template.metadata.labels).toMatchObject(named('Service', REDIS).spec.selector);
    expect(template.metadata.labels).not.toMatchObject(service.spec.selector);
    const { name, containerPort } = container.ports[0];
    expect(named('Service', REDIS).spec.ports).toEqual([
      expect.objectContaining({ port: containerPort, targetPort: name }),
    ]);
    const { [variable]: url } = services['replica-1']!.environment as Record<string, string>;
    expect(url).toMatch(new RegExp(`@${composed}:${containerPort}$`));
  });

  it('keeps jobs on a volume that one Redis at a time writes to', () => {
    const { strategy, template } = named('Deployment', REDIS_JOBS).spec;
    expect(strategy).toEqual({ type: 'Recreate' });
    const [{ volumeMounts }] = template.spec.containers;
    const [{ name, persistentVolumeClaim }] = template.spec.volumes;
    expect(volumeMounts).toEqual([{ name, mountPath: '/data' }]);
    expect(named('PersistentVolumeClaim', persistentVolumeClaim.claimName)).toBeDefined();
    expect(template.spec.securityContext.fsGroup).toBe(template.spec.securityContext.runAsGroup);
  });

  it('runs workers for jobs, which get no requests and grow with the chunks that wait', () => {
    const { template, selector, replicas } = named('Deployment', WORKER).spec;
    const { labels } = template.metadata;
    expect(labels).toMatchObject(selector.matchLabels);
    expect(labels).not.toMatchObject(service.spec.selector);
    const [container] = template.spec.containers;
    const [{ spec }] = deployments;
    expect(container.image).toBe(spec.template.spec.containers[0].image);
    const set = Object.fromEntries(
      container.env
        .filter(({ name }: Variable) => name !== 'REDIS_PASSWORD')
        .map(({ name, value }: Variable) => [name, value]),
    );
    expect(set).toMatchObject({ ROLE: 'worker', REDIS_JOBS_URL: expect.stringContaining(REDIS_JOBS) });
    expect(() => readEnvironment(set)).not.toThrow();
    expect(Number(container.resources.requests.cpu)).toBe(Number(set['WORKERS']) + 1);
    expect(template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(DEFAULTS.SHUTDOWN_MS);
    expect(named('NetworkPolicy', WORKER).spec.podSelector.matchLabels).toEqual({
      'app.kubernetes.io/name': WORKER,
    });
    const { scaleTargetRef, metrics } = named('HorizontalPodAutoscaler', WORKER).spec;
    expect([scaleTargetRef.name, replicas]).toEqual([WORKER, undefined]);
    expect(metrics[0].external.metric).toEqual({ name: 'nes_job_chunks_waiting' });
    expect(readFileSync('docs/operations.md', 'utf8')).toMatch(/^\| `nes_job_chunks_waiting` /m);
  });

  it('lets the replicas reach Redis and nobody else, and Prometheus the metrics', () => {
    const [own, redis] = [NAME, REDIS].map((name) => named('NetworkPolicy', name).spec);
    const labels = (name: string) => named('Deployment', name).spec.template.metadata.labels;
    for (const name of [NAME, `${NAME}-gpu`]) {
      expect(labels(name)).toMatchObject(own.podSelector.matchLabels);
      expect(labels(name)).toMatchObject(redis.ingress[0].from[0].podSelector.matchLabels);
    }
    expect(labels(REDIS)).toMatchObject(redis.podSelector.matchLabels);
    expect(labels(REDIS)).toMatchObject(own.egress[0].to[0].podSelector.matchLabels);
    const jobs = named('NetworkPolicy', REDIS_JOBS).spec;
    expect(labels(REDIS_JOBS)).toMatchObject(own.egress[0].to[1].podSelector.matchLabels);
    expect(labels(REDIS_JOBS)).toMatchObject(jobs.podSelector.matchLabels);
    expect(labels(NAME)).toMatchObject(jobs.ingress[0].from[0].podSelector.matchLabels);
    expect(labels(WORKER)).toMatchObject(jobs.ingress[0].from[1].podSelector.matchLabels);
    const worker = named('NetworkPolicy', WORKER).spec;
    expect(labels(REDIS_JOBS)).toMatchObject(worker.egress[0].to[0].podSelector.matchLabels);
    expect([redis.ingress.length, redis.ingress[0].from.length, redis.egress]).toEqual([1, 1, undefined]);
    expect(redis.policyTypes).toEqual(['Ingress', 'Egress']);
    const open = own.ingress.filter(({ from }: { from?: object }) => from === undefined);
    expect(open).toEqual([{ ports: [{ port: 'http' }] }]);
    expect(own.egress[0].ports).toEqual([{ port: named('Service', REDIS).spec.ports[0].port }]);
  });

  it('spreads the pods that the autoscaler counts, which reads a metric that is there', () => {
    const { scaleTargetRef, metrics, minReplicas } = named('HorizontalPodAutoscaler', NAME).spec;
    const { replicas, template } = named(scaleTargetRef.kind, scaleTargetRef.name).spec;
    expect([replicas, minReplicas]).toEqual([undefined, 2]);
    for (const { labelSelector } of template.spec.topologySpreadConstraints) {
      expect(template.metadata.labels).toEqual(labelSelector.matchLabels);
    }
    const { metric, target } = metrics[0].pods;
    expect(Number(target.averageValue)).toBeLessThan(DEFAULTS.QUEUE_LIMIT);
    // test/docs/operations.spec.ts keeps the table of metrics and labels equal to those of the service.
    const [, labels] = new RegExp(`^\\| \`${metric.name}\` +\\| (.*?) *\\|`, 'm').exec(
      readFileSync('docs/operations.md', 'utf8'),
    )!;
    expect(Object.keys(metric.selector.matchLabels).map((label) => `\`${label}\``)).toEqual([labels]);
  });

  it('asks for a GPU if the image is that of the GPU', () => {
    expect(
      deployments.map(({ spec }) => spec.template.spec.containers[0].resources.limits['nvidia.com/gpu']),
    ).toEqual([undefined, 1]);
  });
});
