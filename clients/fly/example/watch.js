/**
 * One fly in many browsers. The first page opens a session and steps it. Its link has the name of the session, and the
 * pages that open it watch the steps. All of them draw only from the events, so they show the same.
 */
import { NeuralExperimentClient } from 'neural-experiment-client';
import { animate, fly } from './stage.js';

const STEP_MS = 20;
/** Invented: each sense is on for a while, one after the other. */
const SENSES = ['sugar', 'loom', 'touch'];
const EACH_MS = 400;
const input = (sense) => [sense, { node_set: `@stimulus/${sense}`, rate_hz: 0 }];
const BRAIN = { inputs: Object.fromEntries(SENSES.map(input)) };

const query = new URLSearchParams(location.search);
const service = query.get('service') ?? 'http://localhost:8080';
// keepalive lets the request that ends the session finish after the user leaves the page.
const client = new NeuralExperimentClient(service, {
  fetch: (url, init) => fetch(url, { ...init, keepalive: init.method === 'DELETE' }),
});
const element = (id) => document.getElementById(id);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Steps the session in real time; after a late step, time slows down. */
async function live(session) {
  for (let dueMs = performance.now(); ; dueMs = Math.max(dueMs + STEP_MS, performance.now())) {
    await pause(dueMs - performance.now());
    const now = SENSES[Math.floor(session.tMs / EACH_MS) % SENSES.length];
    const rates = Object.fromEntries(SENSES.map((sense) => [sense, sense === now ? 100 : 0]));
    await session.step(STEP_MS, { rates_hz: rates }, { drive: true });
  }
}

async function opened() {
  const session = await client.openSession(BRAIN);
  addEventListener('pagehide', () => session.end());
  query.set('session', session.name);
  Object.assign(element('link'), { href: `?${query}`, hidden: false });
  live(session).catch(({ message }) => (element('note').textContent = `The fly stops: ${message}`));
  return session.name;
}

const drive = {};
let shownMs = performance.now();
animate((nowMs) => {
  fly.act(drive, nowMs - shownMs);
  shownMs = nowMs;
});

try {
  for await (const step of client.watchSession(query.get('session') ?? (await opened()))) {
    // A drive rises at once and fades slowly. A drive of 20 ms could otherwise not start a take-off, which takes 750 ms.
    for (const [id, now] of Object.entries(step.drive ?? {})) {
      const faded = (drive[id] ?? 0) * 0.9;
      drive[id] = Math.abs(now) > Math.abs(faded) ? now : faded;
    }
    element('time').textContent = step.t_ms;
  }
  element('note').textContent = 'The session has ended.';
} catch ({ message }) {
  element('note').textContent = `No brain at ${service} (${message}).`;
}
