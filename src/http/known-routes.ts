import type { RouteOptions } from 'fastify';

/** The existing paths and their methods: the router alone does not distinguish 404 from 405. */
export class KnownRoutes {
  readonly #routes: { readonly pattern: RegExp; readonly methods: Set<string> }[] = [];

  add({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    // The one of CORS, which answers preflights at every path and makes none of them exist.
    if ([method].flat().every((each) => each === 'OPTIONS')) return;
    const pattern = patternOf(url);
    let route = this.#routes.find((known) => known.pattern.source === pattern.source);
    if (route === undefined) {
      route = { pattern, methods: new Set(['OPTIONS']) };
      this.#routes.push(route);
    }
    for (const each of [method].flat()) route.methods.add(each);
  }

  /** @returns what Allow says about a path, empty where nothing is */
  methodsOf(path: string): string[] {
    const route = this.#routes.find(({ pattern }) => pattern.test(path));
    return route === undefined ? [] : [...route.methods].sort();
  }
}

/** The regular expression for a path of the router such as `/a/:name`. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
