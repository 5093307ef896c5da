/** The stored form of a condition result of a job. libuv's threads compress it, because tables may be large. */
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import {
  type ConditionResult,
  packedResult,
  unpackedResult,
} from '../../experiments/run/condition-result.js';
import { inOneGo } from '../../experiments/run/turn.js';

const deflateRaw = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflateRaw);
const inflateRaw = promisify<Uint8Array, Buffer>(zlib.inflateRaw);

/** A fast one: further levels take much longer and save little. */
const DEFLATE_LEVEL = 1;

export async function encodeResult(result: ConditionResult, turn = inOneGo): Promise<Buffer> {
  return deflateRaw(await turn(() => packedResult(result)), { level: DEFLATE_LEVEL });
}

/** @throws CodedError NOT_FOUND if another version of the service has stored it */
export async function decodeResult(bytes: Uint8Array, turn = inOneGo): Promise<ConditionResult> {
  const inflated = await inflateRaw(bytes);
  return turn(() => unpackedResult(inflated));
}
