import Negotiator from 'negotiator';
import type { FastifyRequest } from 'fastify';
import {
  FORMATS,
  TABLE_FORMATS,
  type ColumnNames,
  type Format,
  type TableName,
} from '../answers/v2/formats/formats.js';
import { CodedError, describeValue } from '../errors.js';

const ALL = Object.keys(FORMATS) as Format[];

/**
 * The format of an answer: `?format=` decides, else Accept, else it is JSON.
 * @param possible in the order of preference where the client has none
 * @throws CodedError INVALID_PARAMETER, NOT_ACCEPTABLE
 */
export function answerFormat(
  asked: Format | undefined,
  { headers }: Pick<FastifyRequest, 'headers'>,
  possible: readonly Format[] = ALL,
): Format {
  if (asked !== undefined) {
    if (possible.includes(asked)) return asked;
    throw new CodedError(
      'INVALID_PARAMETER',
      `format must be ${possible.join(' or ')} for this request, got ${asked}.`,
      { path: '' },
    );
  }
  const { accept } = headers;
  if (accept === undefined) return possible[0]!;
  const types = possible.map((format) => FORMATS[format].mediaType);
  const [best] = new Negotiator({ headers }).mediaTypes(types);
  const format = possible.find((each) => FORMATS[each].mediaType === best);
  if (format !== undefined) return format;
  const [last, ...others] = types.reverse();
  const list = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
  throw new CodedError('NOT_ACCEPTABLE', `Accept must allow ${list}, got ${describeValue(accept)}.`, {
    path: '',
  });
}

/** Which table an answer has; only a format of tables may be asked for one. */
export interface TableChoice {
  readonly table?: TableName;
  readonly names?: ColumnNames;
}

/** @throws CodedError INVALID_PARAMETER */
export function checkTable({ table, names }: TableChoice, format: Format): void {
  const [given] = Object.entries({ table, names }).filter(([, value]) => value !== undefined);
  if (given === undefined || (TABLE_FORMATS as readonly Format[]).includes(format)) return;
  throw new CodedError(
    'INVALID_PARAMETER',
    `${given[0]} may be given only with one of the formats ${TABLE_FORMATS.join(', ')}, got ${format}.`,
    { path: '' },
  );
}
