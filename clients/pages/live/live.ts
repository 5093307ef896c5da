/** A live fly: what is done to it by hand reaches a brain that goes on in a session, and brain and body answer. */
import { NeuralExperimentClient } from '#client';
import type { CompactAtlas } from '../../../src/connectome/atlas-binary.js';
import type { FlyView } from '../body/fly-view.js';
import { documentHash } from '../document-link.js';
import { byId, element } from '../dom.js';
import { asFailure, fetchJson, type Model } from '../service/client.js';
import type { Playback } from '../playback.js';
import type { Stage } from '../stage.js';
import { experimentDone } from './experiment-done.js';
import { LiveBrain, type LiveBrainListener, type Step } from './live-brain.js';
import { LiveLight } from './live-light.js';
import { faded, FAR, Senses } from './senses.js';
import './live.css';

const START = 'Try a live fly';
const SPEEDS = [
  [1, 'Real time'],
  [1 / 5, '1/5 speed'],
  [1 / 20, '1/20 speed'],
] as const;
/** Rates as runs of version 1 have them; other stimuli have the usual one. */
const NOMINAL_HZ: Readonly<Record<string, number>> = { colour: 50 };
const USUAL_HZ = 150;
const SUGGESTIONS = 12;
/** A body that nothing drives comes to rest in so many ms. */
const BODY_RESTS_MS = 6000;
const LONGEST_FRAME_MS = 100;
/** A drive holds while the next step is late, but no longer than this. */
const LATEST_STEP_MS = 500;
/** Steps later than this share of their time are slow motion. */
const SLOW_SHARE = 0.15;

/** Parts of the page that are drawn; those that are not there yet, or never are, are undefined. */
interface Views {
  readonly fly: FlyView | undefined;
  readonly stage: Stage | undefined;
  readonly atlas: CompactAtlas | undefined;
}

export interface LiveParts {
  readonly model: Model;
  readonly playback: Playback;
  readonly view: () => Views;
  /** Shows the recorded run again. */
  readonly onStop: () => void;
}

export class Live {
  readonly #start = byId<HTMLButtonElement>('live-start');
  readonly #note = byId('live-note');
  readonly #pace = element('span', { class: 'hint' });
  readonly #experiment = element(
    'button',
    { type: 'button', disabled: true },
    'This is the experiment you did',
  );
  readonly #senses: Senses;
  readonly #brain: LiveBrain;
  #light: LiveLight | undefined;
  #indexOf: ReadonlyMap<string, number> | undefined;
  #isOn = false;
  #silence: readonly string[] = [];
  #strengths: Readonly<Record<string, number>> = {};
  #drive: Readonly<Record<string, number>> = {};
  #shownDrive: Readonly<Record<string, number>> = {};
  #strongest: Record<string, number> = {};
  #driveUntilMs = 0;
  #shownMs = 0;

  constructor(private readonly parts: LiveParts) {
    const buttons = [...document.querySelectorAll<HTMLElement>('.hold')];
    const ids = buttons.map((button) => button.dataset['act']!);
    this.#senses = new Senses(Object.fromEntries(ids.map((id) => [id, NOMINAL_HZ[id] ?? USUAL_HZ])));
    const inputs = ids.map((id) => [id, { node_set: `@stimulus/${id}`, rate_hz: 0 }] as const);
    const experiment = {
      inputs: Object.fromEntries(inputs),
      reports: { brain: { node_set: '@all', type: 'spikes' as const } },
    };
    // A page that is left still ends its session.
    const client = new NeuralExperimentClient('', {
      fetch: (url, init) => fetch(url, { ...init, keepalive: init?.method === 'DELETE' }),
    });
    const listener: LiveBrainListener = {
      sense: (stepMs) => {
        const isActing = this.#senses.isActing;
        const { ratesHz, strengths } = this.#senses.sense(stepMs);
        this.#strengths = strengths;
        return { changes: { rates_hz: ratesHz, silence: [...this.#silence] }, isActing };
      },
      onStep: (step) => this.#take(step),
      onPause: (why) => this.#tellPause(why),
    };
    this.#brain = new LiveBrain(client, experiment, listener);
    byId('live-panel').append(this.#controls());
    this.#listen();
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Begins with a stimulus what a hand does, and the live fly with it. */
  hold(stimulus: string): void {
    if (!this.#isOn) this.#begin();
    this.#senses.hold(stimulus);
    this.#wake();
  }

  letGo(stimulus: string): void {
    this.#senses.letGo(stimulus);
  }

  toggle(): void {
    if (this.#isOn) this.stop();
    else this.#begin();
  }

  /** Ends the session, and gives brain and fly back to the recorded runs. */
  stop(note = ''): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#senses.reset();
    void this.#brain.end();
    this.parts.view().fly?.setLive(false);
    this.#present();
    this.#note.textContent = note;
    this.parts.onStop();
  }

  #begin(): void {
    this.#isOn = true;
    const { playback, view } = this.parts;
    if (playback.playing) playback.toggle();
    view().fly?.setLive(true);
    this.#shownMs = performance.now();
    [this.#drive, this.#shownDrive, this.#strengths] = [{}, {}, {}];
    this.#present();
    this.#note.textContent = 'Hold a button down, or come near the fly with the pointer.';
    void this.seeBrain();
    // It opens the session, so that the first that is done is answered at once.
    this.#brain.wake();
  }

  #present(): void {
    byId('stage').classList.toggle('live', this.#isOn);
    byId('live-panel').hidden = !this.#isOn;
    this.#start.textContent = this.#isOn ? 'Back to recorded runs' : START;
  }

  /** Lights the brain up from when it is there. The fly answers before: names of neurons are more to load than a step. */
  async seeBrain(): Promise<void> {
    const { model, view } = this.parts;
    const { stage, atlas } = view();
    if (!this.#isOn || stage === undefined || atlas === undefined) return;
    this.#light = new LiveLight(atlas.neuronCount);
    stage.setLive(this.#light.spiking);
    if (this.#indexOf !== undefined) return;
    try {
      const { id: ids } = await fetchJson<{ readonly id: readonly string[] }>(model.atlas_url);
      this.#indexOf = new Map(ids.map((id, index) => [id, index]));
    } catch {
      this.#note.textContent =
        'The names of neurons did not arrive, so the brain stays dark; the fly answers.';
    }
  }

  #take({ answer, durationMs, shownMs }: Step): void {
    if (!this.#isOn) return;
    const now = performance.now();
    this.#drive = answer.drive ?? {};
    // The next step replaces it, also a late one.
    this.#driveUntilMs = now + shownMs + LATEST_STEP_MS;
    for (const [id, value] of Object.entries(this.#drive)) {
      this.#strongest[id] = Math.max(this.#strongest[id] ?? 0, Math.abs(value));
    }
    this.#experiment.disabled = false;
    const isSlow = this.#brain.lateMs > SLOW_SHARE * shownMs;
    const took = `In slow motion: ${durationMs} ms of the brain take ${Math.round(shownMs + this.#brain.lateMs)} ms. `;
    this.#pace.textContent = `${isSlow ? took : ''}${(answer.t_ms / 1000).toFixed(1)} s of brain time`;
    const { brain } = answer.reports;
    if (this.#light === undefined || this.#indexOf === undefined || !isTable(brain)) return;
    const fromMs = answer.t_ms - durationMs;
    const neurons = brain.root_id.map((id) => this.#indexOf!.get(id)!);
    const atMs = brain.t_ms.map((tMs) => now + ((tMs - fromMs) / durationMs) * shownMs);
    if (this.#light.add(neurons, atMs)) this.parts.view().stage?.setLive(this.#light.spiking);
  }

  #frame(): void {
    if (!this.#isOn) return;
    const now = performance.now();
    const elapsedMs = Math.min(LONGEST_FRAME_MS, now - this.#shownMs);
    this.#shownMs = now;
    if (now > this.#driveUntilMs + BODY_RESTS_MS) return;
    this.#shownDrive = faded(this.#shownDrive, now < this.#driveUntilMs ? this.#drive : {}, elapsedMs);
    const { fly, stage } = this.parts.view();
    fly?.actLive(this.#shownDrive, elapsedMs, this.#strengths);
    stage?.lightLive((light) => this.#light?.write(light, now, elapsedMs) ?? false);
  }

  #tellPause(why: Parameters<LiveBrainListener['onPause']>[0]): void {
    this.#strengths = {};
    this.#driveUntilMs = performance.now();
    if (!this.#isOn) return;
    if (typeof why === 'object') {
      const { message } = asFailure(why.error);
      this.stop(`There is no live brain at present: ${message} Recorded runs play as before.`);
    } else if (why !== 'rest') {
      this.#senses.reset();
      this.#note.textContent =
        why === 'full'
          ? 'This experiment is as long as one may be; what you do next begins a new one.'
          : 'The brain went on by itself, since its model has no fatigue, and was put to rest. Go on.';
    }
  }

  #controls(): HTMLElement {
    const speed = element('select', { 'aria-label': 'Speed of the live brain' });
    for (const [value, text] of SPEEDS) speed.append(new Option(text, String(value)));
    speed.addEventListener('change', () => (this.#brain.speed = Number(speed.value)));
    const types = element('datalist', { id: 'live-types' });
    const silence = element('input', { type: 'search', list: 'live-types', placeholder: 'LC4, LPLC2' });
    silence.addEventListener('input', () => this.#suggest(silence.value, types));
    silence.addEventListener('change', () => this.#silenceTypes(silence.value));
    this.#experiment.addEventListener('click', () => void this.#openExperiment());
    const tools = element(
      'div',
      { class: 'tools' },
      speed,
      element('label', {}, 'Silence cell types ', silence),
    );
    tools.append(types, this.#experiment, this.#pace);
    return tools;
  }

  #listen(): void {
    this.parts.playback.onFrame(() => this.#frame());
    const views = byId('views');
    const point = (event: PointerEvent): void => {
      if (!this.#isOn) return;
      // A mouse that is pressed turns the brain; a finger threatens where it touches the fly.
      const isFinger = event.pointerType !== 'mouse';
      const onFly = event.target === byId('fly-canvas');
      if (isFinger ? !onFly : event.buttons !== 0) return;
      const { left, top, width, height } = byId('fly-canvas').getBoundingClientRect();
      const half = Math.max(width, height) / 2;
      const away = Math.hypot(event.clientX - left - width / 2, event.clientY - top - height / 2) / half;
      this.#senses.pointAt(away);
      if (this.#senses.isActing) this.#wake();
    };
    const leave = (): void => this.#senses.pointAt(FAR);
    views.addEventListener('pointerdown', point);
    views.addEventListener('pointermove', point);
    views.addEventListener('pointerleave', leave);
    views.addEventListener('pointercancel', leave);
    views.addEventListener('pointerup', (event) => event.pointerType !== 'mouse' && leave());
    document.addEventListener('visibilitychange', () => {
      if (document.hidden && this.#isOn) {
        this.#senses.reset();
        void this.#brain.end();
      }
    });
    addEventListener('pagehide', () => this.#brain.leave());
  }

  #wake(): void {
    if (!this.#isOn || document.hidden) return;
    if (!this.#brain.isOpen) this.#strongest = {};
    this.#brain.wake();
  }

  /** Offers types that begin as the last name in the text does. */
  #suggest(text: string, into: HTMLElement): void {
    if (text === '') this.#silenceTypes('');
    const [, before, last] = /^(.*,\s*)?(.*)$/.exec(text)!;
    const start = last!.trim().toLowerCase();
    const names = new Set(this.parts.view().atlas?.types.map(({ name }) => name));
    const found = [...names].filter((name) => start !== '' && name.toLowerCase().startsWith(start));
    const options = found
      .slice(0, SUGGESTIONS)
      .map((name) => element('option', { value: `${before ?? ''}${name}` }));
    into.replaceChildren(...options);
  }

  /** @param text names of cell types, with commas between them */
  #silenceTypes(text: string): void {
    const names = text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    const known = new Set(this.parts.view().atlas?.types.map(({ name }) => name));
    const unknown = names.find((name) => !known.has(name));
    if (unknown !== undefined) {
      this.#note.textContent = `This brain has no cell type called ${unknown}.`;
      return;
    }
    const wasSilent = this.#silence.length > 0;
    this.#silence = names;
    if (names.length > 0) {
      this.#note.textContent = `From now on silent: ${names.join(', ')}. Do the same again, and compare.`;
    } else if (wasSilent) this.#note.textContent = 'No cell type is silent any more.';
  }

  async #openExperiment(): Promise<void> {
    try {
      const document = await this.#brain.experiment();
      if (document === undefined) return;
      const done = experimentDone(document, this.parts.model, this.#strongest);
      const hash = documentHash(done);
      if (hash !== undefined) location.assign(`/laboratory${hash}`);
      else save('live-fly.json', `${JSON.stringify(done, null, 2)}\n`);
    } catch (error) {
      this.#note.textContent = asFailure(error).message;
    }
  }
}

/** Gives a document that is too long for a link to the reader as a file. */
function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url));
}

function isTable(report: unknown): report is { readonly t_ms: number[]; readonly root_id: string[] } {
  return typeof report === 'object' && report !== null && 'root_id' in report;
}
