/** The module of a thread that draws one picture. */
import { parentPort, workerData } from 'node:worker_threads';
import { pngOf, usualFonts, type Picture } from './png.js';

parentPort!.postMessage(await pngOf(workerData as Picture, usualFonts()));
