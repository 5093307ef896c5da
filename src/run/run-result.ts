import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import type { QueuedResult } from '../pool/experiment-queue.js';

const gzip = promisify(gzipCallback);
/** The level of the worker; see there. */
const GZIP_LEVEL = 3;
/** view=full is view=drive with more members at its end; this is where the first of them begins. */
const FIRST_MEMBER_OF_FULL = ',"frames":[';
/** What an entry of the cache takes beside its bytes, about. */
const OVERHEAD_BYTES = 512;

/** The response to an experiment, in the encodings requested so far. */
export class RunResult {
  #gzip: Uint8Array | undefined;

  constructor(
    private readonly body: Uint8Array,
    compressed: Uint8Array | undefined,
    readonly backend: string,
  ) {
    this.#gzip = compressed;
  }

  static of({ body, gzip: compressed, backend }: QueuedResult): RunResult {
    return new RunResult(body, compressed, backend);
  }

  get identity(): Uint8Array {
    return this.body;
  }

  /** Mostly made by the worker; where a later client is the first to want it, off the main thread too. */
  async gzip(): Promise<Uint8Array> {
    this.#gzip ??= await gzip(this.body, { level: GZIP_LEVEL });
    return this.#gzip;
  }

  /** Both encodings, as if both were there: an entry must not outgrow its account. */
  get bytes(): number {
    return this.body.length + (this.#gzip?.length ?? this.body.length) + OVERHEAD_BYTES;
  }

  /** view=drive of the same experiment. */
  drive(): RunResult {
    const body = Buffer.from(this.body.buffer, this.body.byteOffset, this.body.length);
    const end = body.indexOf(FIRST_MEMBER_OF_FULL);
    return new RunResult(Buffer.concat([body.subarray(0, end), Buffer.from('}')]), undefined, this.backend);
  }
}
