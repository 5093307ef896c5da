/** Shows the fly acting out a run of the service. If no service answers, it cycles through invented drives. */
import { animate, fly } from './stage.js';

/** Invented drives for use without a service, one movement after the other, EACH_MS each. */
const MADE_UP = [{ walk: 0.8 }, { groom: 1 }, { proboscis: 1 }, { escape: 1, wing: 0.6 }, {}];
const EACH_MS = 3000;

const query = new URLSearchParams(location.search);
const service = query.get('service') ?? 'http://localhost:8080';
const note = document.getElementById('note');

async function ask(path, body) {
  const init = body && {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  const answer = await (await fetch(service + path, init)).json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

/** @returns a function that shows the fly at a time of the page, in ms */
async function movement() {
  try {
    const stimulus = query.get('stimulus') ?? 'loom';
    const [model, run] = await Promise.all([
      ask('/api/v1/model'),
      ask('/api/v1/run', { stimulus, duration_ms: 200 }),
    ]);
    fly.load(run, model);
    // One ms of the run takes 50 ms. After the run, the fly comes to rest and the run repeats.
    return (nowMs) => fly.showAt((nowMs / 50) % (run.duration_ms + 100));
  } catch (error) {
    note.textContent = `No run from ${service} (${error.message}); these movements have no brain behind them.`;
    let shownMs = performance.now();
    return (nowMs) => {
      fly.act(MADE_UP[Math.floor(nowMs / EACH_MS) % MADE_UP.length], nowMs - shownMs);
      shownMs = nowMs;
    };
  }
}

animate(await movement());
