/** The worker of a site passes on what its host delivers, even if the browser can store nothing. */
const SITE = 'https://site.test/';
type Listener = (event: object) => void;

/** Starts the worker in a browser whose disk is full. @returns its listeners */
async function startOnFullDisk(open: () => Promise<object>): Promise<Map<string, Listener>> {
  const listeners = new Map<string, Listener>();
  Object.assign(globalThis, {
    FILES: { fresh: [], lasting: ['assets/a.js'], onUse: [] },
    BUILD: 'build',
    caches: { open, match: async () => undefined },
    registration: { scope: SITE },
    addEventListener: (type: string, listener: Listener) => listeners.set(type, listener),
    fetch: async () => new Response('delivered'),
  });
  await jest.isolateModulesAsync(async () => void (await import('../../clients/pages/offline.js')));
  return listeners;
}

it.each([
  [
    'written',
    () => Promise.resolve({ match: async () => undefined, put: () => Promise.reject(new Error()) }),
  ],
  ['opened', () => Promise.reject(new Error())],
])('passes on a file if the cache cannot be %s, but is not installed', async (_, open) => {
  const listeners = await startOnFullDisk(open);
  const answers: Promise<Response>[] = [];
  const request = { method: 'GET', url: `${SITE}assets/a.js` };
  listeners.get('fetch')!({ request, respondWith: (answer: Promise<Response>) => answers.push(answer) });
  expect(await (await answers[0]!).text()).toBe('delivered');
  const installed: Promise<unknown>[] = [];
  listeners.get('install')!({ waitUntil: (work: Promise<unknown>) => installed.push(work) });
  await expect(installed[0]).rejects.toThrow();
});
