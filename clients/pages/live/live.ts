/** Connects a live fly: actions of the user become inputs of a session, and the page shows its brain and body. */
import { type ExperimentDocument, NeuralExperimentClient } from '#client';
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import type { Twins } from '../body/twins.js';
import { completeNames } from '../completion.js';
import { byId, choiceOf, element, pushButton, save } from '../dom.js';
import { isSessionHere, laboratoryUrl, transport } from '../service/transport.js';
import { asFailure, type Model, service } from '../service/client.js';
import { idsOfBrain } from '../service/neuron-index.js';
import type { Playback } from '../playback.js';
import type { Stage } from '../stage.js';
import type { Bars } from '../results.js';
import { ChannelRates, WINDOW_MS } from './channel-rates.js';
import { experimentDone } from './experiment-done.js';
import { LiveBrain, type LiveBrainListener, type Step } from './live-brain.js';
import { LiveLight } from './live-light.js';
import { Seam } from './seam.js';
import { FAR, Senses, ShownDrive } from './senses.js';
import './live.css';

const START = 'Try a live fly';
const SPEEDS = [
  ['1', 'Real time'],
  ['0.2', '1/5 speed'],
  ['0.05', '1/20 speed'],
] as const;
/** Each connection then leads from its neuron to a random other one. Counts of connections and synapses stay. */
const CUT = { shuffle: 'targets', seed: 1 } as const;
/** Time in which a body without drives comes to rest. */
const BODY_RESTS_MS = 6000;
const MAX_FRAME_MS = 100;
/** If the next step is late, its drive lasts at most this much longer. */
const LATEST_STEP_MS = 500;
/** If steps are late by more than this fraction of their time, the page says slow motion. */
const SLOW_SHARE = 0.15;

/** Drawn parts of the page; undefined if they are not loaded. */
interface Views {
  readonly flies: Twins | undefined;
  readonly stage: Stage | undefined;
  readonly atlas: CompactAtlas | undefined;
}

interface LiveParts {
  readonly model: Model;
  readonly playback: Playback;
  readonly view: () => Views;
  /** Called when the fly becomes live, and when it ends. */
  readonly onLive: (isLive: boolean) => void;
  /** Shows the numbers of the last steps. */
  readonly onStep: (bars: Bars) => void;
}

export class Live {
  readonly #start = byId<HTMLButtonElement>('live-start');
  readonly #note = byId('live-note');
  readonly #pace = element('span', { class: 'hint' });
  readonly #experiment = pushButton('This is the experiment you did', () => void this.#openExperiment(), {
    class: false,
    disabled: true,
  });
  readonly #seam = element('figure', { id: 'seam' });
  readonly #cut = element('input', { type: 'checkbox', role: 'switch', id: 'cut' });
  readonly #silenceField = element('input', {
    type: 'search',
    list: 'live-types',
    placeholder: 'LC4, LPLC2',
  });
  readonly #beside = element('input', { type: 'checkbox', role: 'switch', id: 'beside' });
  readonly #senses: Senses;
  readonly #document: ExperimentDocument;
  readonly #brain: LiveBrain;
  #shownSeam: Seam | undefined;
  /** Rates in Hz of the last step. */
  #given: Readonly<Record<string, number>> = {};
  #light: LiveLight | undefined;
  #rates: ChannelRates | undefined;
  #indexOf: ReadonlyMap<string, number> | undefined;
  #isOn = false;
  #silence: readonly string[] = [];
  #strengths: Readonly<Record<string, number>> = {};
  #drive: Readonly<Record<string, number>> = {};
  #shownDrive = new ShownDrive();
  /** The same of the second fly. */
  #shownLesioned = new ShownDrive();
  #strongest: Record<string, number> = {};
  #driveUntilMs = 0;
  #shownMs = 0;

  constructor(private readonly parts: LiveParts) {
    const { stimuli } = parts.model;
    this.#senses = new Senses(Object.fromEntries(stimuli.map((each) => [each.id, each.nominal_rate_hz])));
    const inputs = stimuli.map(({ id }) => [id, { node_set: `@stimulus/${id}`, rate_hz: 0 }] as const);
    this.#document = {
      inputs: Object.fromEntries(inputs),
      reports: { brain: { node_set: '@all', type: 'spikes' as const } },
    };
    // keepalive lets the request that ends the session finish after the user leaves the page.
    const client = new NeuralExperimentClient('', {
      fetch: (url, init) => transport(url, { ...init, keepalive: init?.method === 'DELETE' }),
      timeoutMs: Infinity,
    });
    const listener: LiveBrainListener = {
      sense: (stepMs) => {
        const isActing = this.#senses.isActing;
        const { ratesHz, strengths } = this.#senses.sense(stepMs);
        this.#strengths = strengths;
        this.#given = ratesHz;
        const [silence, lesion] = this.#beside.checked ? [[], this.#silence] : [[...this.#silence], []];
        return { changes: { rates_hz: ratesHz, silence }, lesion, isActing };
      },
      onStep: (step) => this.#take(step),
      onOne: () => this.showOne('The service has no room for a second brain at present. '),
      onPause: (why) => this.#tellPause(why),
    };
    this.#brain = new LiveBrain(client, this.#document, listener, isSessionHere);
    // The seam grows with the neurons that answer, so nothing that is pressed stands below it.
    byId('live-panel').append(this.#controls(), this.#seam);
    this.#listen();
  }

  /** Begins a stimulus, and makes the fly live. */
  hold(stimulus: string): void {
    this.begin();
    this.#senses.hold(stimulus);
    this.#wake();
  }

  letGo(stimulus: string): void {
    this.#senses.letGo(stimulus);
  }

  toggle(): void {
    if (this.#isOn) this.stop();
    else this.begin();
  }

  /** Ends the session, and shows recorded runs again. */
  stop(note = ''): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#senses.reset();
    void this.#brain.end();
    this.parts.view().flies?.first.setLive(false);
    this.#present();
    this.#note.textContent = note;
    this.parts.onLive(false);
  }

  begin(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    const { playback, view } = this.parts;
    if (playback.playing) playback.toggle();
    view().flies?.first.setLive(true);
    this.#shownMs = performance.now();
    [this.#drive, this.#strengths] = [{}, {}];
    [this.#shownDrive, this.#shownLesioned] = [new ShownDrive(), new ShownDrive()];
    this.#present();
    this.#showTwins();
    this.#note.textContent = 'Hold a button down, or come near the fly with the pointer.';
    this.parts.onLive(true);
    this.#showDrives();
    void this.seeBrain();
    // Open the session now, so that the first action gets a quick answer.
    this.#brain.wake();
  }

  #present(): void {
    byId('stage').classList.toggle('live', this.#isOn);
    byId('live-panel').hidden = !this.#isOn;
    this.#start.textContent = this.#isOn ? 'Back to recorded runs' : START;
  }

  /**
   * Shows the light of the brain as soon as neurons are loaded. The fly responds earlier, because it needs no neurons.
   */
  async seeBrain(): Promise<void> {
    const { model, view } = this.parts;
    const { stage, atlas } = view();
    if (!this.#isOn || stage === undefined || atlas === undefined) return;
    this.#rates = new ChannelRates(model.channels, atlas);
    this.#shownSeam = new Seam(this.#seam, model, atlas);
    this.#light = new LiveLight(atlas.neuronCount);
    stage.setLive(this.#light.spiking);
    // Names that were typed before the atlas came.
    if (this.#silenceField.value !== '' && this.#silence.length === 0)
      this.#silenceTypes(this.#silenceField.value);
    if (this.#indexOf !== undefined) return;
    try {
      const ids = await idsOfBrain(service, model.atlas_url);
      this.#indexOf = new Map(ids.map((id, index) => [id, index]));
    } catch {
      this.#note.textContent =
        'The names of neurons did not arrive, so the brain stays dark; the fly answers.';
    }
  }

  #take({ answer, lesioned, durationMs, shownMs, isHere }: Step): void {
    if (!this.#isOn) return;
    const now = performance.now();
    this.#drive = answer.drive ?? {};
    this.#shownDrive.take(this.#drive);
    this.#shownLesioned.take(lesioned?.drive ?? {});
    // The next step replaces it, even if it is late.
    this.#driveUntilMs = now + shownMs + LATEST_STEP_MS;
    for (const [id, value] of Object.entries(this.#drive)) {
      this.#strongest[id] = Math.max(this.#strongest[id] ?? 0, Math.abs(value));
    }
    this.#experiment.disabled = false;
    const isSlow = this.#brain.lateMs > SLOW_SHARE * shownMs;
    const took = `In slow motion: ${durationMs} ms of the brain take ${Math.round(shownMs + this.#brain.lateMs)} ms. `;
    const time = `${(answer.t_ms / 1000).toFixed(1)} s of brain time`;
    const place = isHere ? 'computed in this tab' : 'computed by the service';
    this.#pace.textContent = `${isSlow ? took : ''}${time}, ${place}`;
    const { brain } = answer.reports;
    if (this.#light === undefined || this.#indexOf === undefined || !isTable(brain))
      return this.#showDrives();
    const fromMs = answer.t_ms - durationMs;
    const neurons = brain.root_id.map((id) => this.#indexOf!.get(id)!);
    const { step, window } = this.#rates!.add(neurons, durationMs);
    this.parts.onStep({ channels: window, drive: this.#drive, duration_ms: WINDOW_MS });
    this.#shownSeam!.show({ durationMs, given: this.#given, neurons, channels: step, drive: this.#drive });
    const atMs = brain.t_ms.map((tMs) => now + ((tMs - fromMs) / durationMs) * shownMs);
    if (this.#light.add(neurons, atMs)) this.parts.view().stage?.setLive(this.#light.spiking);
  }

  /** Shows all that is known without the names of neurons. */
  #showDrives(): void {
    this.parts.onStep({ channels: {}, drive: this.#drive, duration_ms: WINDOW_MS });
  }

  #frame(): void {
    if (!this.#isOn) return;
    const now = performance.now();
    const elapsedMs = Math.min(MAX_FRAME_MS, now - this.#shownMs);
    this.#shownMs = now;
    if (now > this.#driveUntilMs + BODY_RESTS_MS) return;
    const isMoved = now < this.#driveUntilMs;
    const drive = this.#shownDrive.frame(elapsedMs, isMoved);
    const lesionedDrive = this.#shownLesioned.frame(elapsedMs, isMoved);
    const { flies, stage } = this.parts.view();
    const [fly, lesioned] = flies?.shown ?? [];
    fly?.actLive(drive, elapsedMs, this.#strengths);
    lesioned?.actLive(lesionedDrive, elapsedMs, this.#strengths);
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
    const setSpeed = (speed: string): number => (this.#brain.speed = Number(speed));
    const speed = choiceOf(SPEEDS, '1', setSpeed, { 'aria-label': 'Speed of the live brain' });
    const types = element('datalist', { id: 'live-types' });
    const silence = this.#silenceField;
    silence.addEventListener('input', () => silence.value === '' && this.#silenceTypes(''));
    completeNames({
      list: types,
      namesLike: () => this.parts.view().atlas?.types.map(({ name }) => name) ?? [],
      areSeveral: true,
    });
    silence.addEventListener('change', () => this.#silenceTypes(silence.value));
    this.#cut.addEventListener('change', () => void this.#cutWires(this.#cut.checked));
    this.#beside.addEventListener('change', () =>
      this.#beside.checked ? this.#showTwins() : this.showOne(),
    );
    const tools = element(
      'div',
      { class: 'tools' },
      element('label', { class: 'check' }, this.#cut, 'Cut the wires'),
      speed,
      element('label', {}, 'Silence cell types ', silence),
      element('label', { class: 'check' }, this.#beside, 'beside an intact fly'),
    );
    tools.append(types, this.#experiment, this.#pace);
    return tools;
  }

  #listen(): void {
    this.parts.playback.onFrame(() => this.#frame());
    const views = byId('views');
    const point = (event: PointerEvent): void => {
      if (!this.#isOn) return;
      // A pressed mouse turns the brain; a finger on the fly is a threat.
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
        this.#strengths = {};
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

  /** Goes on with a brain whose connections lead to random neurons, or with the true one. */
  async #cutWires(isCut: boolean): Promise<void> {
    this.#note.textContent = isCut
      ? 'Each connection now leads to a random neuron. Do the same again: it does nothing, or by chance something else.'
      : 'Each connection leads again to the neuron that it has in this brain.';
    await this.#brain.end(isCut ? { ...this.#document, wiring: CUT } : this.#document);
    this.#wake();
  }

  /** @param text names of cell types, with commas between them */
  #silenceTypes(text: string): void {
    const names = text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    const { atlas } = this.parts.view();
    const known = new Set(atlas?.types.map(({ name }) => name));
    const unknown = names.find((name) => !known.has(name));
    if (unknown !== undefined) {
      this.#note.textContent =
        atlas === undefined
          ? 'The names of cell types have not arrived yet.'
          : `This brain has no cell type called ${unknown}.`;
      return;
    }
    const wasSilent = this.#silence.length > 0;
    this.#silence = names;
    this.#showTwins();
    if (names.length > 0) {
      this.#note.textContent = `From now on silent: ${names.join(', ')}. Do the same again, and compare.`;
    } else if (wasSilent) this.#note.textContent = 'No cell type is silent any more.';
  }

  /** Shows one fly again, and goes on with it. @param reason a sentence */
  showOne(reason = ''): void {
    this.#beside.checked = false;
    this.#showTwins();
    const silent = this.#silence.join(', ');
    const other = this.#cut.checked ? 'fly with cut wires' : 'intact fly';
    const which = silent === '' ? other : `fly without ${silent}`;
    this.#note.textContent = `${reason}The ${which} goes on.`;
  }

  /** Shows a fly without the silent types beside an intact one, if that is asked for. */
  #showTwins(): void {
    const { flies } = this.parts.view();
    if (!this.#beside.checked || this.#silence.length === 0) return flies?.end();
    if (flies?.showLive(this.#silence.join(', ')) === false) {
      this.#beside.checked = false;
      this.#note.textContent = 'This browser draws no second fly.';
      return;
    }
    this.#driveUntilMs = Math.max(this.#driveUntilMs, performance.now());
    this.#note.textContent = 'Both get what you do. Two brains are computed, which costs twice as much.';
  }

  async #openExperiment(): Promise<void> {
    try {
      const document = await this.#brain.experiment();
      if (document === undefined) return;
      const done = experimentDone(document, this.parts.model, this.#strongest);
      const url = laboratoryUrl(done);
      if (url !== undefined) location.assign(url);
      else
        save(new Blob([`${JSON.stringify(done, null, 2)}\n`], { type: 'application/json' }), 'live-fly.json');
    } catch (error) {
      this.#note.textContent = asFailure(error).message;
    }
  }
}

function isTable(report: unknown): report is { readonly t_ms: number[]; readonly root_id: string[] } {
  return typeof report === 'object' && report !== null && 'root_id' in report;
}
