/** The fly as a package: built, bundled, installed, and drawn by a real browser. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { openPage } from '../support/browser.js';
import { describeWith } from '../support/requirements.js';
import { serve } from './served-page.js';

const FLY_DIR = resolve('clients/fly');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
};

const SIZE = { width: 320, height: 320 };

const directory = mkdtempSync(join(tmpdir(), 'fly-'));
const built = join(directory, 'built');
const node = (args: readonly string[], cwd = FLY_DIR) => promisify(execFile)(process.execPath, args, { cwd });
const tsc = (args: readonly string[], cwd?: string) =>
  node([resolve('node_modules/typescript/bin/tsc'), ...args], cwd);

beforeAll(() => tsc(['--outDir', built]), 120_000);
afterAll(() => rmSync(directory, { recursive: true }));

describe('clients/fly as a package', () => {
  const installed = join(directory, 'node_modules/neural-experiment-fly');
  beforeAll(() => {
    mkdirSync(installed, { recursive: true });
    cpSync(join(FLY_DIR, 'package.json'), join(installed, 'package.json'));
    cpSync(built, join(installed, 'dist'), { recursive: true });
    mkdirSync(join(directory, 'node_modules/@types'));
    for (const name of ['three', '@types/three']) {
      symlinkSync(resolve('node_modules', name), join(directory, 'node_modules', name));
    }
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(
      join(directory, 'use.ts'),
      `import { Scene } from 'three';
import { createFly, type Behaviour } from 'neural-experiment-fly';
const fly = createFly({ background: 'light', slowDown: 20 });
new Scene().add(fly.object);
fly.act({ walk: 0.5 }, 16);
export const behaviour: Behaviour = fly.behaviour;
// @ts-expect-error There is no such background.
createFly({ background: 'green' });
`,
    );
  });

  it.each([
    ['bundler', 'esnext'],
    ['nodenext', 'nodenext'],
  ])('is found under moduleResolution %s', async (moduleResolution, module) => {
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--lib', 'es2023,dom'];
    const args = ['--ignoreConfig', '--module', module, '--moduleResolution', moduleResolution, ...options];
    expect(await tsc([...args, 'use.ts'], directory)).toMatchObject({ stdout: '' });
  });

  it('is as small as its README says, and needs three.js only', async () => {
    const bundle = join(directory, 'bundle');
    const config = {
      configFile: false,
      logLevel: 'error',
      root: directory,
      build: {
        outDir: bundle,
        lib: { entry: join(built, 'fly.js'), formats: ['es'], fileName: 'fly' },
        rollupOptions: { external: ['three'] },
      },
    };
    const script = `import { build } from 'vite'; await build(${JSON.stringify(config)});`;
    await node(['--input-type=module', '-e', script], resolve('.'));
    const { stdout } = await promisify(execFile)('sh', ['-c', `cat ${bundle}/*.js | gzip -9 | wc -c`]);
    const [, kilobytes] = /has (\d+) kB minified and gzipped/.exec(
      readFileSync(join(FLY_DIR, 'README.md'), 'utf8'),
    )!;
    expect(Math.round(Number(stdout) / 1000)).toBe(Number(kilobytes));
    const imports = [...readFileSync(join(bundle, 'fly.js'), 'utf8').matchAll(/from\s*["']([^"']+)/g)];
    expect(new Set(imports.map(([, from]) => from))).toEqual(new Set(['three']));
  });
});

describeWith(['chromium'], 'the fly in a browser', () => {
  const served = serve('default');
  let files: Server;
  let url: string;

  beforeAll(async () => {
    // The checkout with the current build.
    files = createServer(({ url: asked }, response) => {
      const path = new URL(asked!, 'http://localhost').pathname;
      const dist = '/clients/fly/dist/';
      const file = path.startsWith(dist) ? join(built, path.slice(dist.length)) : resolve(`.${path}`);
      try {
        const content = readFileSync(path.endsWith('/') ? join(file, 'index.html') : file);
        response.setHeader('Content-Type', TYPES[extname(file)] ?? 'text/html').end(content);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((ready) => files.listen(0, '127.0.0.1', ready));
    url = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    files.closeAllConnections();
    files.close();
  });

  const othersOf = (problems: readonly string[]) => () =>
    problems.filter((each) => !each.includes(served.service.url));
  const openExample = async (stimulus: string) => {
    const { page, problems } = await openPage(
      served.browser,
      { url },
      `/clients/fly/example/?stimulus=${stimulus}&service=${served.service.url}`,
      SIZE,
    );
    await page.locator('canvas').waitFor();
    return { page, otherProblems: othersOf(problems) };
  };

  it('acts out a run of the service in the example', async () => {
    const { page, otherProblems } = await openExample('loom');
    await page.locator('#behaviour', { hasText: 'takes off' }).waitFor();
    expect(await page.locator('body').innerText()).toContain('Engineered');
    const before = await page.locator('canvas').screenshot();
    await page.locator('#behaviour', { hasText: /flies|flight/ }).waitFor();
    expect(before.equals(await page.locator('canvas').screenshot())).toBe(false);
    expect(otherProblems()).toEqual([]);
    await page.close();
  });

  describe('the pointer as a threat', () => {
    interface Step {
      readonly sentHz: { readonly LC4: number };
      readonly escape: number;
    }

    /** The page, whose steps are written down and can be delayed. */
    const openThreat = async () => {
      const { page, problems } = await openPage(served.browser, { url }, 'about:blank', SIZE);
      await page.addInitScript(`
        Object.assign(globalThis, { steps: [], underWay: 0, most: 0, lateMs: 0 });
        const real = fetch;
        globalThis.fetch = async (url, init) => {
          if (!url.endsWith('/steps?drive=true')) return real(url, init);
          most = Math.max(most, ++underWay);
          try {
            await new Promise((resolve) => setTimeout(resolve, lateMs));
            const answer = await real(url, init);
            const { drive } = await answer.clone().json();
            if (drive) steps.push({ sentHz: JSON.parse(init.body).rates_hz, escape: drive.escape });
            return answer;
          } finally {
            underWay--;
          }
        };
      `);
      await page.goto(`${url}/clients/fly/example/threat.html?service=${served.service.url}`);
      return {
        page,
        otherProblems: othersOf(problems),
        steps: () => page.evaluate<Step[]>('steps'),
        more: (count: number) =>
          page.evaluate(`(async () => {
            const enough = steps.length + ${count};
            while (steps.length < enough) await new Promise((resolve) => setTimeout(resolve, 20));
          })()`),
        behaviour: (text: string) => page.locator('#behaviour', { hasText: text }).waitFor(),
      };
    };

    it('stands while the pointer is far, and takes off when it comes quickly', async () => {
      const { page, steps, more, behaviour, otherProblems } = await openThreat();
      await page.mouse.move(5, 5);
      await more(20);
      await page.mouse.move(315, 5);
      await more(10);
      await behaviour('stands');
      const far = await steps();
      expect(far.every(({ escape }) => escape === 0)).toBe(true);
      await page.mouse.move(160, 160, { steps: 3 });
      await behaviour('takes off');
      const near = (await steps()).slice(far.length);
      expect(Math.max(...near.map(({ sentHz }) => sentHz.LC4))).toBeGreaterThan(60);
      expect(Math.max(...near.map(({ escape }) => escape))).toBeGreaterThan(0.6);
      // A threat that does not move does not grow, so the fly lands.
      await behaviour('lands');
      expect(otherProblems()).toEqual([]);
      await page.close();
    });

    it('goes on in slow motion, one step at a time, when steps are late', async () => {
      const { page, more } = await openThreat();
      await more(1);
      await page.evaluate('lateMs = 150');
      await more(8);
      await page.locator('#note', { hasText: /In slow motion: 20 ms of the brain take [1-9]\d\d/ }).waitFor();
      expect(await page.evaluate('most')).toBe(1);
      await page.close();
    });

    it('says when the service is gone, goes on when it is back, and ends its session', async () => {
      const { page, more } = await openThreat();
      await more(1);
      await page.context().setOffline(true);
      const note = page.locator('#note', { hasText: `No brain at ${served.service.url}` });
      await note.waitFor();
      const opened = page.waitForResponse((answer) => answer.status() === 201);
      await page.context().setOffline(false);
      const path = (await opened).headers()['location']!;
      await more(2);
      await note.waitFor({ state: 'detached' });
      await page.goto('about:blank');
      await expectEnded(path);
      await page.close();
    });

    async function expectEnded(path: string): Promise<void> {
      const giveUpAtMs = performance.now() + 5000;
      let status;
      do {
        await new Promise((resolve) => setTimeout(resolve, 50));
        ({ status } = await served.service.get(path));
      } while (status !== 404 && performance.now() < giveUpAtMs);
      expect(status).toBe(404);
    }
  });

  it('is one fly in five browsers, which ends with the page that steps it', async () => {
    const open = (path: string) => openPage(served.browser, { url }, path, SIZE);
    const example = `/clients/fly/example/watch.html?service=${served.service.url}`;
    const first = await open(example);
    const link = first.page.locator('#link');
    await link.waitFor();
    const watched = `/clients/fly/example/watch.html${await link.getAttribute('href')}`;
    const others = await Promise.all([1, 2, 3, 4].map(() => open(watched)));
    const pages = [first, ...others].map(({ page }) => page);
    // The same moments of one brain, in all of them.
    const watch = (page: Page) =>
      page.evaluate(`(async () => {
        globalThis.seen = new Set();
        const time = document.getElementById('time');
        new MutationObserver((changes) => {
          for (const { addedNodes } of changes) for (const { data } of addedNodes) seen.add(Number(data));
        }).observe(time, { childList: true });
        while (seen.size < 40) await new Promise((resolve) => setTimeout(resolve, 20));
      })()`);
    await Promise.all(pages.map(watch));
    const seen = await Promise.all(pages.map((page) => page.evaluate<number[]>('[...seen]')));
    const lastOfFirst = Math.min(...seen.map((times) => times.at(-1)!));
    const firstOfLast = Math.max(...seen.map(([time]) => time!));
    const together = seen.map((times) => times.filter((at) => at >= firstOfLast && at <= lastOfFirst));
    expect(together[0]!.length).toBeGreaterThan(10);
    for (const times of together) expect(times).toEqual(together[0]);
    await first.page.goto('about:blank');
    for (const { page } of others)
      await page.locator('#note', { hasText: 'The session has ended.' }).waitFor();
    expect([first, ...others].flatMap(({ problems }) => othersOf(problems)())).toEqual([]);
    for (const page of pages) await page.close();
    // Five pages draw in software.
  }, 400_000);

  it('takes three draw calls, two without its shadow, and frees its memory', async () => {
    const { page, otherProblems } = await openExample('touch');
    const drawn = await page.evaluate(`(async () => {
      const three = await import('three');
      const { createFly } = await import('neural-experiment-fly');
      const renderer = new three.WebGLRenderer();
      const scene = new three.Scene().add(new three.HemisphereLight());
      const camera = new three.PerspectiveCamera(30, 1, 0.1, 50);
      camera.position.set(6, 4, 6);
      camera.lookAt(0, 1, 0);
      // The renderer keeps textures of its own once it has drawn this material.
      const box = new three.Mesh(new three.BoxGeometry(), new three.MeshStandardMaterial());
      renderer.render(scene.add(box), camera);
      scene.remove(box);
      box.geometry.dispose();
      box.material.dispose();
      const own = renderer.info.memory.textures;
      const memory = () => ({
        geometries: renderer.info.memory.geometries,
        textures: renderer.info.memory.textures - own,
      });
      const seen = [];
      for (const shadow of [true, false]) {
        const fly = createFly({ shadow, background: 'light' });
        scene.add(fly.object);
        for (const drive of [{}, { walk: 1 }, { groom: 1 }, { escape: 1 }]) {
          fly.act(drive, 900);
          renderer.render(scene, camera);
          seen.push(renderer.info.render.calls);
        }
        fly.setBackground('dark');
        renderer.render(scene, camera);
        seen.push(memory());
        fly.dispose();
        seen.push({ ...memory(), children: scene.children.length });
      }
      return seen;
    })()`);
    const freed = { geometries: 0, textures: 0, children: 1 };
    expect(drawn).toEqual([
      ...[3, 3, 3, 3, { geometries: 3, textures: 1 }, freed],
      ...[2, 2, 2, 2, { geometries: 2, textures: 1 }, freed],
    ]);
    expect(otherProblems()).toEqual([]);
    await page.close();
  });

  it('looks different in each of its behaviours', async () => {
    const { page } = await openExample('sugar');
    const hashes = await page.evaluate(`(async () => {
      const three = await import('three');
      const { createFly } = await import('neural-experiment-fly');
      const renderer = new three.WebGLRenderer({ preserveDrawingBuffer: true });
      renderer.setSize(160, 160);
      const fly = createFly({ travels: false });
      const scene = new three.Scene().add(fly.object, new three.HemisphereLight('#fff', '#444', 3));
      const camera = new three.PerspectiveCamera(30, 1, 0.1, 50);
      camera.position.set(7, 4, 7);
      camera.lookAt(0, 1, 0);
      const { drives } = await (await fetch('${served.service.url}/api/v1/model')).json();
      const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const pictureOf = (drive) => {
        fly.reset();
        for (let i = 0; i < 3; i++) fly.act(drive, 500);
        renderer.render(scene, camera);
        context.drawImage(renderer.domElement, 0, 0);
        return context.getImageData(0, 0, 160, 160).data;
      };
      const standing = pictureOf({});
      return drives.map(({ id }) => {
        const picture = pictureOf({ walk: 0.4, [id]: 0.9 });
        return [id, picture.filter((value, i) => Math.abs(value - standing[i]) > 24).length];
      });
    })()`);
    for (const [id, changed] of hashes as [string, number][]) {
      expect([id, changed > 400]).toEqual([id, true]);
    }
    await page.close();
  });
});
