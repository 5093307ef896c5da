import './signals.js';

// Not before: everything takes a second to load, and signals must be heard meanwhile.
const { startService } = await import('./service.js');

/** The service of this process; undefined where it could not start. */
export const app = await startService();
