/** A built service for these scripts, with the default connectome and without rate limit. */
import { startService } from '../bench/service.mjs';

/**
 * Starts the service, and ends it when the work is done.
 * @param {(url: string) => Promise<void>} work
 */
export async function withDefaultService(work) {
  const service = await startService('data/default.connectome', {});
  try {
    await work(service.url);
  } finally {
    await service.stop();
  }
}
