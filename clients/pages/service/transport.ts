/**
 * Sends the requests of the pages: to the brain in this tab once it is there, otherwise to the service. On a site without a
 * service, stored answers are files, and the brain answers everything else.
 */
import type { Brain } from '#client';
import type { openBrain } from '../../tab/open-brain.js';

/** True on a site without a service. */
export const IS_SITE = import.meta.env.MODE === 'site';
/** The folder of the pages, which need not be the root: a proxy may serve it below any path. */
const FOLDER = new URL('.', document.baseURI);
/** Address of the service, without a slash at its end. A command may put it between quotes, so it has none. */
export const SERVICE_URL = FOLDER.href.replace(/\/$/, '').replaceAll("'", '%27');
/** Devices with less memory, as far as the browser says, ask the service. */
const LEAST_MEMORY_GB = 2;
/** A first figure waits this long for the brain in the tab. Then the service computes it. */
const PATIENCE_MS = 4000;
/** A module with one instruction of SIMD, which the kernels need. */
const SIMD = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3],
  ...[2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
);
/** Requests that the brain in the tab answers beside a service. */
const COMPUTED = /^\/api\/(v1\/run|v2\/experiments|v2\/sessions)(?=$|[/?])/;

interface Device {
  readonly deviceMemory?: number;
  readonly connection?: { readonly saveData?: boolean };
}

let here: Brain | undefined;
let opening: Promise<Brain | undefined> | undefined;
let stored: Promise<readonly string[]> | undefined;

/** The reason why this device computes nothing; undefined if it may. */
function obstacle(): string | undefined {
  const { deviceMemory, connection } = navigator as Device;
  if (!WebAssembly.validate(SIMD)) return 'this browser has no WebAssembly with SIMD';
  if ((deviceMemory ?? LEAST_MEMORY_GB) < LEAST_MEMORY_GB) return 'this device has little memory';
  if (connection?.saveData === true && !IS_SITE) return 'this browser saves data';
  return undefined;
}

/** The place at which the next run is computed, as a sentence for readers. */
export function placeOfRuns(): string {
  if (here !== undefined) return 'Computed in this tab; the service gives the same answer.';
  const reason = obstacle();
  return reason === undefined ? 'Computed by the service.' : `Computed by the service, because ${reason}.`;
}

export function isHere(): boolean {
  return here !== undefined;
}

/**
 * Loads the brain into this tab, unless the device should not. Further calls wait for the first.
 * @param digest of the connectome that the service has
 * @returns undefined if it cannot be opened here; the service then goes on answering
 */
export function openHere(digest: string): Promise<Brain | undefined> {
  opening ??= open(digest).catch((error: unknown) => {
    if (IS_SITE) {
      // The next request tries again.
      opening = undefined;
      throw error;
    }
    return undefined;
  });
  return opening;
}

/** Waits for the brain in this tab, but not for long. */
export async function openHereSoon(digest: string): Promise<void> {
  const opened = openHere(digest).catch(() => undefined);
  await Promise.race([opened, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}

async function open(digest: string): Promise<Brain | undefined> {
  if (obstacle() !== undefined && !IS_SITE) return undefined;
  const code = new URL(IS_SITE ? 'brain.js' : 'tab/brain.js', FOLDER).href;
  const module = (await import(/* @vite-ignore */ code)) as { readonly openBrain: typeof openBrain };
  here = await (IS_SITE
    ? module.openBrain()
    : module.openBrain(new URL(`brain/${digest}.connectome`, FOLDER)));
  // For those who watch the page from outside.
  document.documentElement.dataset['brain'] = 'here';
  return here;
}

/** Sends a request, in the form of fetch. */
export const transport: typeof fetch = async (input, init = {}) => {
  const path = String(input);
  if (IS_SITE) {
    stored ??= fetch(new URL('answers.json', FOLDER)).then((answer) => answer.json() as Promise<string[]>);
    if ((await stored).includes(path)) return fetch(addressOf(path), init);
    await openHere('');
    return askHere(path, init);
  }
  const isJob = new Headers(init.headers).has('Prefer') || /experiments\/\w/.test(path);
  if (here === undefined || !COMPUTED.test(path) || isJob) return fetch(addressOf(path), init);
  try {
    return await askHere(path, init);
  } catch (error) {
    // Its worker may be out of memory; the service goes on.
    if (here === undefined) return fetch(addressOf(path), init);
    throw error;
  }
};

/** The address of a path of the service. */
function addressOf(path: string): URL {
  return new URL(`.${path}`, FOLDER);
}

/** Asks the brain in this tab, and closes it if its worker has failed. */
async function askHere(path: string, init: RequestInit): Promise<Response> {
  const brain = here!;
  try {
    return await brain.fetch(path, init);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'WORKER_LOST' && here === brain) {
      brain.close();
      here = undefined;
      delete document.documentElement.dataset['brain'];
      // A site has no service, so its next request opens the brain again.
      if (IS_SITE) opening = undefined;
    }
    throw error;
  }
}

/** The address of another page, relative to this one. */
export function pageUrl(page: 'laboratory', hash: string): string {
  return `${page}${IS_SITE ? '.html' : ''}${hash}`;
}
