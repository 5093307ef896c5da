/**
 * Sends the requests of the pages: to the brain in this tab once it is there, otherwise to the service. On a site without a
 * service, stored answers are files, and the brain answers everything else.
 */
import type { Brain } from '#client';
import type { openBrain } from '../../tab/open-brain.js';
import { fetchInTime } from '../../tab/fetch-in-time.js';
import { documentHash } from '../document-link.js';
import { loadingSentence } from './loading.js';

/** True on a site without a service. */
export const IS_SITE = import.meta.env.MODE === 'site';
/** The folder of the pages, which need not be the root: a proxy may serve it below any path. */
const FOLDER = new URL('.', document.baseURI);
/**
 * Address of the service in commands, without a slash at its end and without quotes. A site names the service that readers
 * start themselves.
 */
export const SERVICE_URL = IS_SITE
  ? 'http://localhost:8080'
  : FOLDER.href.replace(/\/$/, '').replaceAll("'", '%27');
/** Devices with less memory, as far as the browser says, ask the service. */
const LEAST_MEMORY_GB = 2;
/** A module with one instruction of SIMD, which the kernels need. */
const SIMD = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3],
  ...[2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
);
/** Requests that the brain in the tab answers beside a service. Sessions have names of the place that has opened them. */
const COMPUTED = /^\/api\/(v1\/run|v2\/experiments|v2\/sessions(?=$|\/tab-))(?=$|[/?])/;
/** Pause before the brain is loaded if the browser does not say when a page is idle, as Safari does not. */
const IDLE_AFTER_MS = 1000;
/** Class of a page whose brain is in the tab. */
const COMPUTING = 'computing';
/** On a slow device, a page that plays may never be idle. */
const LATEST_MS = 5000;

interface Device {
  readonly deviceMemory?: number;
  readonly connection?: { readonly saveData?: boolean };
}

let here: Brain | undefined;
let opening: Promise<Brain | undefined> | undefined;
let stored: Promise<readonly string[]> | undefined;
/** Requests that wait for the brain. */
let waiting = 0;
let loading = '';
let report: (sentence: string) => void = () => undefined;

/** The reason why this device computes nothing; undefined if it may. */
function obstacle(): string | undefined {
  const { deviceMemory, connection } = navigator as Device;
  if (!WebAssembly.validate(SIMD)) return 'this browser has no WebAssembly with SIMD';
  if ((deviceMemory ?? LEAST_MEMORY_GB) < LEAST_MEMORY_GB) return 'this device has little memory';
  if (connection?.saveData === true) return 'this browser saves data';
  return undefined;
}

/** The place at which the next run is computed, as a sentence for readers. */
function placeOfRuns(): string {
  if (IS_SITE || here !== undefined) return 'Computed in this tab; the service gives the same answer.';
  const reason = obstacle();
  return reason === undefined ? 'Computed by the service.' : `Computed by the service, because ${reason}.`;
}

/** @returns the place of an answer to a request that begins now; call it after the answer */
export function placeFromNow(): () => string {
  const before = placeOfRuns();
  // The worker may fail meanwhile; then the service answers.
  return () => (here === undefined ? placeOfRuns() : before);
}

/** @param name of a session */
export function isSessionHere(name: string): boolean {
  return name.startsWith('tab-');
}

/** @param listener called with the progress of loading while a request waits for the brain, and at the end with '' */
export function onLoading(listener: (sentence: string) => void): void {
  report = listener;
}

/** Loads the brain into this tab when the page is idle, unless the device should not. */
export function openWhenIdle(digest: string): void {
  if (obstacle() !== undefined) return;
  const load = (): void => void openHere(digest).catch(() => undefined);
  if ('requestIdleCallback' in window) requestIdleCallback(load, { timeout: LATEST_MS });
  else setTimeout(load, IDLE_AFTER_MS);
}

/**
 * Loads the brain into this tab. Further calls wait for the first.
 * @param digest of the connectome that the service has
 * @returns undefined if it cannot be opened here; the service then goes on answering
 */
function openHere(digest: string): Promise<Brain | undefined> {
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

async function open(digest: string): Promise<Brain | undefined> {
  loading = 'Loading the brain …';
  const code = new URL(IS_SITE ? 'brain.js' : 'tab/brain.js', FOLDER).href;
  const module = (await import(/* @vite-ignore */ code)) as { readonly openBrain: typeof openBrain };
  here = await (IS_SITE
    ? module.openBrain({ onProgress: (progress) => tell(loadingSentence(progress)) })
    : module.openBrain(new URL(`brain/${digest}.connectome`, FOLDER)));
  document.documentElement.classList.add(COMPUTING);
  return here;
}

function tell(sentence: string): void {
  if (sentence === loading) return;
  loading = sentence;
  if (waiting > 0) report(loading);
}

/** Opens the brain of a site for a request. If that is aborted, loading goes on for the next one. */
async function awaitBrain(signal: AbortSignal | null | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (here !== undefined) return;
  waiting++;
  try {
    const opened = openHere('');
    report(loading);
    const aborted = new Promise<never>((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    await Promise.race([opened, aborted]);
  } finally {
    waiting--;
    if (waiting === 0) report('');
  }
}

/**
 * Sends a request, in the form of fetch. The brain in this tab has no limit of time: it always answers, and after a sleep a
 * timer would run out before the answer is read. Loading it may take minutes.
 */
export const transport: typeof fetch = async (input, init = {}) => {
  const path = String(input);
  if (IS_SITE) {
    stored ??= storedPaths();
    if ((await stored).includes(path)) return fetchInTime(addressOf(path), init);
    await awaitBrain(init.signal);
    try {
      return await askHere(path, init);
    } catch (error) {
      if (!isLost(error)) throw error;
      // A site has no service, so another worker answers.
      await awaitBrain(init.signal);
      return askHere(path, init);
    }
  }
  const isJob = new Headers(init.headers).has('Prefer') || /experiments\/\w/.test(path);
  if (here === undefined || !COMPUTED.test(path) || isJob) return fetchInTime(addressOf(path), init);
  try {
    return await askHere(path, init);
  } catch (error) {
    if (!isLost(error)) throw error;
    // Its worker may be out of memory; the service goes on.
    return fetchInTime(addressOf(path), init);
  }
};

/** The paths whose answers are files of the site. */
async function storedPaths(): Promise<string[]> {
  try {
    return (await (await fetchInTime(new URL('answers.json', FOLDER), {})).json()) as string[];
  } catch (error) {
    // The next request tries again.
    stored = undefined;
    throw error;
  }
}

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
    if (isLost(error) && here === brain) {
      brain.close();
      here = undefined;
      document.documentElement.classList.remove(COMPUTING);
      // A site has no service, so its next request opens the brain again.
      if (IS_SITE) opening = undefined;
    }
    throw error;
  }
}

function isLost(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'WORKER_LOST';
}

/** @returns the laboratory with a document, relative to this page; undefined if the document is too long for an address */
export function laboratoryUrl(document: unknown): string | undefined {
  const hash = documentHash(document);
  return hash && `laboratory${IS_SITE ? '.html' : ''}${hash}`;
}
