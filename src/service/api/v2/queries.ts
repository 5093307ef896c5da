import Negotiator from 'negotiator';
import type { FastifyRequest } from 'fastify';
import { contentTypeOf, FORMATS, type Format } from '../../../experiments/formats/formats.js';
import {
  CONNECTION_QUERY,
  EXPERIMENT_QUERY,
  NEURON_QUERY,
  RESULTS_QUERY,
} from '../../../experiments/formats/queries.js';
import { dtoOf } from '../../http/request-fields.js';
import { CodedError, describeValue } from '../../../engine/errors.js';

export class ResultsQuery extends dtoOf(RESULTS_QUERY) {}
export class ExperimentQuery extends dtoOf(EXPERIMENT_QUERY) {}
export class NeuronQuery extends dtoOf(NEURON_QUERY) {}
export class ConnectionQuery extends dtoOf(CONNECTION_QUERY) {}

const PAGE = 'text/html';

/**
 * Chooses the format of an answer: by `?format=`, otherwise by Accept, otherwise the first possible one.
 * @param possible formats in order of preference
 * @throws CodedError INVALID_PARAMETER, NOT_ACCEPTABLE
 */
export function answerFormat<F extends Format>(
  asked: Format | undefined,
  { headers }: Pick<FastifyRequest, 'headers'>,
  possible: readonly F[],
): F {
  if (asked !== undefined) {
    const known = possible.find((format) => format === asked);
    if (known !== undefined) return known;
    throw new CodedError(
      'INVALID_PARAMETER',
      `format must be ${possible.join(' or ')} for this request, got ${asked}.`,
      { path: '' },
    );
  }
  const { accept } = headers;
  if (accept === undefined) return possible[0]!;
  // A client may send back the whole Content-Type of an earlier answer.
  const types = possible.map(contentTypeOf);
  const negotiator = new Negotiator({ headers });
  // Browsers that open an address want a page, and accept pictures as much, because one may stand there.
  const isVisit = negotiator.mediaTypes([PAGE, ...types])[0] === PAGE && accept.includes(PAGE);
  const [best] = negotiator.mediaTypes(
    isVisit ? types.filter((type) => type !== contentTypeOf('svg')) : types,
  );
  const format = possible.find((each) => contentTypeOf(each) === best);
  if (format !== undefined) return format;
  const [last, ...others] = possible.map((each) => FORMATS[each].mediaType).reverse();
  const list = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
  throw new CodedError('NOT_ACCEPTABLE', `Accept must allow ${list}, got ${describeValue(accept)}.`, {
    path: '',
  });
}
