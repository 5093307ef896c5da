/** The built service, only that its workers fail when a test tells them to. */
import '../../dist/signals.js';
import { startService } from '../../dist/service.js';

await startService(new URL('./faulty.worker.mjs', import.meta.url));
