/**
 * npm run test:container: every step of docker/Dockerfile, then what it made, started as its user with nowhere to
 * write. CONTAINER=debian does so in fresh Debian trees. Minutes either way, so not a part of `npm test`.
 */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildContext, readDockerfile } from '../support/dockerfile.js';
import { freePort } from '../support/free-port.js';
import { debianWithNode, ImageTree, treeFolder, type Kind } from '../support/image-tree.js';
import { until } from '../support/service-process.js';

const KIND = process.env['CONTAINER'] as Kind | undefined;
/** Node of the base image's version, where the one that runs this is another. */
const NODE = resolve(process.env['CONTAINER_NODE'] ?? process.execPath);
const MINUTES = 60_000;

(KIND === undefined ? describe.skip : describe)(
  `docker/Dockerfile, step by step, ${KIND ?? 'on demand'}`,
  () => {
    const stages = readDockerfile('docker/Dockerfile');
    const context = { folder: resolve('.'), files: buildContext('.') };
    const trees = new Map<string, ImageTree>();
    let folder: string;
    let base: string | undefined;

    beforeAll(() => {
      folder = treeFolder();
      if (KIND === 'debian') base = debianWithNode(folder, NODE);
    }, 10 * MINUTES);
    afterAll(() => {
      for (const tree of trees.values()) tree.remove();
      rmSync(folder, { recursive: true, force: true });
    }, MINUTES);

    it.each(stages.map((stage) => [stage.name, stage]))(
      '%s is made',
      (_, stage) => {
        const tree = ImageTree.begin(folder, stage, KIND!, trees.get(stage.base) ?? base);
        trees.set(stage.name, tree);
        for (const step of stage.steps) {
          const startedMs = performance.now();
          const omitted = tree.apply(step, context, trees);
          const tookS = ((performance.now() - startedMs) / 1000).toFixed(1);
          process.stderr.write(`${stage.name} | ${step.keyword} ${step.text} | ${omitted ?? `${tookS} s`}\n`);
        }
      },
      10 * MINUTES,
    );

    it.each(['cpu', 'gpu'])(
      '%s serves as its user with nowhere to write, is found healthy, and ends with 0',
      async (name) => {
        const tree = trees.get(name)!;
        const [port, metricsPort] = [await freePort(), await freePort()];
        const variables = { PORT: String(port), METRICS_PORT: String(metricsPort), WORKERS: '1' };
        const child = tree.start(variables);
        let output = '';
        child.stdout!.on('data', (text) => (output += text));
        child.stderr!.on('data', (text) => (output += text));
        const exit = new Promise<number | null>((done) => child.on('exit', done));
        const url = `http://127.0.0.1:${port}`;
        try {
          await until(async () => {
            if (child.exitCode !== null) throw new Error(`It ended: ${output}`);
            return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true;
          });
          expect(await tree.health(variables)).toBe(0);
          expect(await tree.health({ ...variables, PORT: '1' })).toBe(1);
          const run = await fetch(`${url}/api/v1/run`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{"stimulus":"sugar"}',
          });
          expect(run.status).toBe(200);
          expect(await run.json()).toMatchObject({ stimulus: 'sugar' });
          expect((await fetch(url)).status).toBe(200);
        } finally {
          child.kill('SIGTERM');
        }
        expect(await exit).toBe(0);
      },
      2 * MINUTES,
    );
  },
);
