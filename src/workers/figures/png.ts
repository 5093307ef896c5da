/** Turns SVG into PNG, with the fonts that ship. It takes about a tenth of a second. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { CodedError, queueFull } from '../../engine/errors.js';
import type { Fonts } from '../../experiments/figures/figure-pdf.js';
import { builtFile } from '../pool/worker-file.js';

const { resolve } = createRequire(import.meta.url);
const [REGULAR, BOLD] = ['400Regular/Arimo_400Regular.ttf', '600SemiBold/Arimo_600SemiBold.ttf'];
const THREAD_FILE = builtFile('./png.thread.js', import.meta.url);
const THREAD_HEAP_MB = 64;
/** A crawler gives up before more are drawn. */
const MAX_WAITING = 8;
/** A drawing that takes longer is ended, so that the others are drawn. */
const MAX_DRAWING_MS = 30_000;

export interface Picture {
  readonly svg: string;
  readonly widthPx: number;
}

let renderer: Promise<typeof import('@resvg/resvg-wasm')> | undefined;
let lastThread: Promise<unknown> = Promise.resolve();
let waiting = 0;

/** @param read reads a file */
export function usualFonts(read: (path: string) => Uint8Array = (path) => readFileSync(path)): Fonts {
  const [regular, bold] = [REGULAR, BOLD].map((file) => read(resolve(`@expo-google-fonts/arimo/${file}`)));
  return { regular: regular!, bold: bold! };
}

/** @param check receives the number of pixels before they are drawn, and may throw */
export async function pngOf(
  { svg, widthPx }: Picture,
  fonts: Fonts,
  check?: (pixels: number) => void,
): Promise<Uint8Array> {
  renderer ??= import('@resvg/resvg-wasm').then(async (module) => {
    await module.initWasm(readFileSync(resolve('@resvg/resvg-wasm/index_bg.wasm')));
    return module;
  });
  const { Resvg } = await renderer;
  const image = new Resvg(svg, {
    fitTo: { mode: 'width', value: widthPx },
    font: { fontBuffers: [fonts.regular, fonts.bold] },
  });
  try {
    check?.(widthPx * widthPx * (image.height / image.width));
    return image.render().asPng();
  } finally {
    image.free();
  }
}

/**
 * The same in a thread of its own, for a caller that must not wait. There is one such thread at a time.
 * @throws CodedError QUEUE_FULL, WORKER_LOST
 */
export async function pngInThread(picture: Picture): Promise<Uint8Array> {
  if (waiting >= MAX_WAITING) throw queueFull(`${waiting} pictures wait`);
  waiting++;
  const drawn = lastThread.then(() => draw(picture));
  lastThread = drawn.catch(() => undefined);
  return drawn.finally(() => waiting--);
}

async function draw(picture: Picture): Promise<Uint8Array> {
  const resourceLimits = { maxOldGenerationSizeMb: THREAD_HEAP_MB };
  const thread = new Worker(THREAD_FILE, { workerData: picture, resourceLimits });
  const timer = setTimeout(() => void thread.terminate(), MAX_DRAWING_MS);
  let png: Uint8Array | undefined;
  let cause: unknown;
  thread.once('message', (drawn: Uint8Array) => (png = drawn));
  thread.once('error', (error) => (cause = error));
  await new Promise((exited) => thread.once('exit', exited));
  clearTimeout(timer);
  if (png === undefined)
    throw new CodedError('WORKER_LOST', 'A thread ended before its picture was drawn.', { cause });
  return png;
}
