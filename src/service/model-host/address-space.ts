import { readFileSync } from 'node:fs';

/**
 * Returns advice for a worker that could not start, if the address space of the process is limited; otherwise an empty
 * text. V8 reserves 8 GiB of it for each of the three memories of a worker, to find wrong accesses without checking each.
 * @param limits the text of /proc/self/limits
 */
export function addressSpaceAdvice(limits: string): string {
  const [, bytes] = /^Max address space +(\d+)/m.exec(limits) ?? [];
  if (bytes === undefined) return '';
  return (
    `The address space of the process is limited to ${bytes} bytes (ulimit -v), and each worker reserves up to 27 GB of ` +
    'it: remove the limit, or lower WORKERS and set NODE_OPTIONS=--disable-wasm-trap-handler, which makes it 13 GB.'
  );
}

/** Limits of this process; empty if the system does not tell. */
export function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
