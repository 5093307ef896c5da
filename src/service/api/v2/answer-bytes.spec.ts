import { CodedError } from '../../../engine/errors.js';
import { holdBeginning, linesOf, withFailureLine, withProgress, type Bytes } from './answer-bytes.js';

const NEVER = new Promise<never>(() => undefined);

async function* pieces(...texts: (string | Promise<unknown>)[]): Bytes {
  for (const text of texts) {
    if (typeof text === 'string') yield Buffer.from(text);
    else await text;
  }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts = [];
  for await (const piece of bytes) texts.push(Buffer.from(piece).toString());
  return texts;
}

describe('holdBeginning', () => {
  it('gives a short answer whole, and one at the limit too', async () => {
    const held = await holdBeginning(pieces('ab', 'cd'), 4);
    expect(held).toEqual({ whole: Buffer.from('abcd') });
  });

  it('gives a longer one as a stream from its beginning, without asking for all of it', async () => {
    const held = await holdBeginning(pieces('abc', 'de', 'f', NEVER), 4);
    const { stream } = held as { stream: Bytes };
    expect(Buffer.from((await stream.next()).value!).toString()).toBe('abcde');
    expect(Buffer.from((await stream.next()).value!).toString()).toBe('f');
  });

  it('fails as the answer does while it is held, and later in the stream', async () => {
    const failure = new Error('broken');
    const broken = () => Promise.reject(failure);
    await expect(holdBeginning(pieces('abc', broken()), 4)).rejects.toBe(failure);
    const held = (await holdBeginning(pieces('abcde', broken()), 4)) as { stream: Bytes };
    await held.stream.next();
    await expect(held.stream.next()).rejects.toBe(failure);
  });
});

describe('withProgress', () => {
  it('adds a line wherever nothing comes for a while, and nothing else', async () => {
    let told = 0;
    let go!: () => void;
    const later = new Promise<void>((resolve) => (go = resolve));
    const progress = () => {
      if (++told === 3) go();
      return Buffer.from(`progress ${told}`);
    };
    expect(await textOf(withProgress(pieces('a', 'b', later, 'c'), progress, 5))).toEqual([
      'a',
      'b',
      'progress 1',
      'progress 2',
      'progress 3',
      'c',
    ]);
  });

  it('ends the lines when nobody wants more', async () => {
    let isOver = false;
    async function* lines(): Bytes {
      try {
        yield Buffer.from('a');
        yield Buffer.from('b');
      } finally {
        isOver = true;
      }
    }
    for await (const line of withProgress(lines(), () => Buffer.from('progress'), 1_000)) {
      expect(Buffer.from(line).toString()).toBe('a');
      break;
    }
    expect(isOver).toBe(true);
  });
});

describe('withFailureLine', () => {
  it('ends with the body of an error response', async () => {
    const failure = new CodedError('WORKER_LOST', 'It ended.', { path: '' });
    const lines = withFailureLine(pieces('a\n', Promise.reject(failure)));
    const texts = await textOf(lines);
    expect(texts).toEqual(['a\n', '{"error":"It ended.","code":"WORKER_LOST","path":""}\n']);
    const answer = Buffer.from(['{"index":0}\n', texts[1]].join(''));
    const read = () => linesOf(answer);
    expect(read).toThrow(CodedError);
    expect(read).toThrow(expect.objectContaining({ code: 'WORKER_LOST', message: 'It ended.', path: '' }));
  });

  it('takes no reader that leaves for a failure, and ends its source', async () => {
    let isEnded = false;
    async function* source(): Bytes {
      try {
        yield* pieces('a\n', NEVER);
      } finally {
        isEnded = true;
      }
    }
    const lines = withFailureLine(source());
    await lines.next();
    const gone = new Error('Premature close');
    await expect(lines.throw(gone)).rejects.toBe(gone);
    expect(isEnded).toBe(true);
    expect(await lines.next()).toEqual({ done: true, value: undefined });
  });

  it('says nothing of a bug but that there is one', async () => {
    const [line] = await textOf(withFailureLine(pieces(Promise.reject(new TypeError('secret')))));
    expect(JSON.parse(line!)).toMatchObject({ code: 'INTERNAL' });
    expect(line).not.toContain('secret');
  });
});
