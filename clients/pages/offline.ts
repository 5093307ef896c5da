/**
 * Lets a site work without its host after a visit. Pages of a site load this script, which registers itself as
 * their service worker. The worker stores the files of one build. A service has none: it may change at any time.
 */
export {};

/** Paths of the site's files; scripts/site-offline.mjs fills them in. */
declare const FILES: {
  /** Their names are the same in every build, so the host is asked first. */
  readonly fresh: readonly string[];
  /** Their names say their content. */
  readonly lasting: readonly string[];
  /** Further files of this kind, which are large and which few visitors need. They are stored when they are used. */
  readonly onUse: readonly string[];
};
/** Digest of these files. */
declare const BUILD: string;

/** Events and scope of a service worker, which the types of pages lack. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface RequestEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void> };
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: RequestEvent) => void): void;
}

/** The files that the page itself needs come first. */
const PAUSE_MS = 3000;
/** A page that is stored does not wait longer for a host. */
const HOST_PATIENCE_MS = 5000;

class SiteFiles {
  readonly #fresh = new Set(FILES.fresh);
  readonly #lasting = new Set([...FILES.lasting, ...FILES.onUse]);
  /** Address of the site, which may share its origin, and so the caches, with other sites. */
  readonly #folder: string;
  readonly #prefix: string;
  readonly #cache: Promise<Cache>;

  constructor(private readonly scope: WorkerScope) {
    this.#folder = scope.registration.scope;
    this.#prefix = `site ${this.#folder} `;
    this.#cache = caches.open(this.#prefix + BUILD);
  }

  serve(): void {
    const { scope } = this;
    scope.addEventListener('install', (event) => event.waitUntil(this.#storeAll()));
    scope.addEventListener('activate', (event) =>
      event.waitUntil(Promise.all([this.#forgetOtherBuilds(), scope.clients.claim()])),
    );
    scope.addEventListener('fetch', (event) => {
      const { method, url } = event.request;
      const path = method === 'GET' ? this.#pathOf(url) : undefined;
      if (path === undefined) return;
      const isFresh = this.#fresh.has(path);
      event.respondWith(isFresh ? this.#fromHost(event.request, path) : this.#fromCache(path, true));
    });
  }

  /** The file that a host sends for an address; undefined if it is none of the build. */
  #pathOf(url: string): string | undefined {
    if (!url.startsWith(this.#folder)) return undefined;
    const path = url.slice(this.#folder.length).replace(/[?#].*$/, '');
    return [path, `${path}index.html`, `${path}.html`].find(
      (each) => this.#fresh.has(each) || this.#lasting.has(each),
    );
  }

  /** One file after the other, so that pages that load meanwhile are hardly slowed. */
  async #storeAll(): Promise<void> {
    for (const path of FILES.fresh) await this.#store(path, { cache: 'no-cache' });
    for (const path of FILES.lasting) await this.#fromCache(path);
  }

  /** @param mayFail true if a page waits for the file: a full disk then stores nothing */
  async #put(url: string, response: Response, mayFail: boolean): Promise<void> {
    const stored = this.#cache.then((cache) => cache.put(url, response));
    await (mayFail ? stored.catch(() => undefined) : stored);
  }

  async #store(path: string, options: RequestInit = {}, mayFail = false): Promise<Response> {
    const url = this.#folder + path;
    const response = await fetch(url, options);
    if (!response.ok && mayFail) return response;
    if (!response.ok) throw new TypeError(`The host answered ${response.status} for ${url}.`);
    // A copy, because a browser accepts no response that was redirected for a page.
    const headers = { 'content-type': response.headers.get('content-type') ?? '' };
    const stored = new Response(await response.arrayBuffer(), { headers });
    await this.#put(url, stored.clone(), mayFail);
    return stored;
  }

  /** Another build may have stored the file. */
  async #fromCache(path: string, mayFail = false): Promise<Response> {
    const url = this.#folder + path;
    const own = await this.#cache.then((cache) => cache.match(url)).catch(() => undefined);
    if (own !== undefined) return own;
    const other = await caches.match(url).catch(() => undefined);
    if (other === undefined) return this.#store(path, {}, mayFail);
    await this.#put(url, other.clone(), mayFail);
    return other;
  }

  async #fromHost(request: Request, path: string): Promise<Response> {
    const stored = await this.#cache.then((cache) => cache.match(this.#folder + path)).catch(() => undefined);
    // A host that fails, or is silent, is as good as none.
    const asked = fetch(request).catch((error: Error) => error);
    const silence = new Promise<Error>((resolve) =>
      setTimeout(() => resolve(new Error('The host is silent.')), HOST_PATIENCE_MS),
    );
    const answer = await (stored === undefined ? asked : Promise.race([asked, silence]));
    if (answer instanceof Response && answer.status < 500) return answer;
    if (stored !== undefined) return stored;
    if (answer instanceof Response) return answer;
    throw answer;
  }

  async #forgetOtherBuilds(): Promise<void> {
    const others = (await caches.keys()).filter(
      (name) => name.startsWith(this.#prefix) && name !== this.#prefix + BUILD,
    );
    await Promise.all(others.map((name) => caches.delete(name)));
  }
}

if ('document' in globalThis) register(document.currentScript as HTMLScriptElement);
else new SiteFiles(globalThis as unknown as WorkerScope).serve();

function register({ src }: HTMLScriptElement): void {
  const { serviceWorker, connection } = navigator as Navigator & {
    readonly connection?: { readonly saveData?: boolean };
  };
  // Pages without TLS have no service workers.
  if ((serviceWorker as unknown) === undefined || connection?.saveData === true) return;
  // A browser may refuse; the site then needs its host.
  const begin = () => void serviceWorker.register(src).catch(() => undefined);
  addEventListener('load', () => setTimeout(begin, PAUSE_MS));
}
