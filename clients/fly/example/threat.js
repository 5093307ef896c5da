/** The pointer is the threat: a session of the service senses it in real time, and the fly acts out the drives. */
import { NeuralExperimentClient } from 'neural-experiment-client';
import { animate, fly } from './stage.js';

const STEP_MS = 20;
const SENSES = { LC4: { node_set: 'LC4', rate_hz: 0 }, LPLC2: { node_set: 'LPLC2', rate_hz: 0 } };
const BRAIN = { inputs: SENSES, reports: { giant_fibre: { node_set: 'DNp01' } } };

const service = new URLSearchParams(location.search).get('service') ?? 'http://localhost:8080';
// keepalive lets the request that ends the session finish after the user leaves the page.
const client = new NeuralExperimentClient(service, {
  fetch: (url, init) => fetch(url, { ...init, keepalive: init.method === 'DELETE' }),
});
const note = document.getElementById('note');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Distances from the fly, in half windows; the threat follows the pointer within about 100 ms.
let [pointer, threat] = [2, 2];
addEventListener('pointermove', ({ clientX: x, clientY: y }) => {
  pointer = Math.hypot((2 * x) / innerWidth - 1, (2 * y) / innerHeight - 1);
});

/**
 * Invented: LC4 fires in proportion to the growth of the threat in the eye, LPLC2 in proportion to its size while it
 * grows.
 */
function sensed() {
  const degrees = () => (360 / Math.PI) * Math.atan(0.15 / threat);
  const before = degrees();
  threat += (pointer - threat) * 0.2;
  const grownHz = Math.max(0, Math.round((degrees() - before) * 10));
  return { LC4: Math.min(200, grownHz), LPLC2: grownHz > 0 ? Math.round(degrees() / 4) : 0 };
}

let [drive, session] = [{}, undefined];
async function live() {
  session ??= await client.openSession(BRAIN);
  const answer = await session.step(STEP_MS, { rates_hz: sensed() }, { drive: true, waitAtMostS: 2 });
  // A drive rises at once and fades slowly. A drive of 20 ms could otherwise not start a take-off, which takes 750 ms.
  for (const [id, now] of Object.entries(answer.drive)) {
    const faded = (drive[id] ?? 0) * 0.9;
    drive[id] = Math.abs(now) > Math.abs(faded) ? now : faded;
  }
}

addEventListener('pagehide', () => session?.end());
let shownMs = performance.now();
animate((nowMs) => {
  fly.act(drive, nowMs - shownMs);
  shownMs = nowMs;
});

let [dueMs, lagMs] = [performance.now(), 0];
for (;;) {
  try {
    await live();
    dueMs += STEP_MS;
    // After a late step, time slows down instead of catching up. Only one request at a time is in progress.
    const lateMs = Math.max(0, performance.now() - dueMs);
    dueMs += lateMs;
    lagMs += (lateMs - lagMs) * 0.1;
    const took = `In slow motion: ${STEP_MS} ms of the brain take ${Math.round(STEP_MS + lagMs)}.`;
    note.textContent = lagMs > STEP_MS ? took : '';
  } catch (error) {
    note.textContent = `No brain at ${service} (${error.message}); asking again.`;
    void session?.end().catch(() => undefined);
    [drive, session] = [{}, undefined];
    dueMs = performance.now() + 1000;
  }
  await pause(dueMs - performance.now());
}
