import { extname } from 'node:path';
import {
  answerWriter,
  type AnswerOptions,
  type AnswerWriter,
} from '../../answers/v2/formats/answer-writer.js';
import { TABLE_FORMATS, type TableFormat } from '../../answers/v2/formats/formats.js';
import type { ExperimentEvent } from '../../answers/v2/result.js';
import { describeValue } from '../../errors.js';
import { usageError } from '../experiment-usage.js';
import { WholeFile } from '../write-whole.js';

/**
 * The format that the name of a file of spikes asks for.
 * @throws CodedError USAGE
 */
export function formatOf(path: string): TableFormat {
  const extension = extname(path).slice(1).toLowerCase();
  const format = TABLE_FORMATS.find((each) => each === extension);
  if (format !== undefined) return format;
  const endings = TABLE_FORMATS.map((each) => `.${each}`).join(', ');
  throw usageError(`--spikes should be a file that ends in one of ${endings}, found ${describeValue(path)}`);
}

/** A table of an answer, written to a file while the experiment runs. It is there when the experiment is complete. */
export class AnswerFile {
  private constructor(
    readonly path: string,
    private readonly file: WholeFile,
    private readonly writer: AnswerWriter,
  ) {}

  /** @throws CodedError where the experiment has no such table, or the file cannot be written */
  static async open(path: string, format: TableFormat, options: AnswerOptions): Promise<AnswerFile> {
    const writer = await answerWriter(format, options);
    return new AnswerFile(path, new WholeFile(path), writer);
  }

  write(event: ExperimentEvent): void {
    for (const bytes of this.writer.write(event)) this.file.write(bytes);
  }

  finish(): void {
    this.file.finish();
  }

  discard(): void {
    this.file.discard();
  }
}
