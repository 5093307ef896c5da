/** The built service, only that its workers fail when a test tells them to. */
import '../../dist/service/signals.js';
import { startService } from '../../dist/service/service.js';

await startService(new URL('./faulty.worker.mjs', import.meta.url));
