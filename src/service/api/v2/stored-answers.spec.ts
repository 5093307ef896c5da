import { EQUAL_EXPERIMENTS_PER_CLIENT } from '../../limits/limits.js';
import { StoredAnswers } from './stored-answers.js';

describe('equal experiments that are planned in turn', () => {
  it('wait for each other, also for one that is refused, and only so many of a client', async () => {
    const answers = new StoredAnswers();
    let refuse!: (error: Error) => void;
    const first = answers.inTurn('key', 'a', () => new Promise((_, reject) => (refuse = reject)));
    const planned: number[] = [];
    const others = Array.from({ length: EQUAL_EXPERIMENTS_PER_CLIENT }, (_, at) =>
      answers.inTurn('key', 'a', async () => planned.push(at)),
    );
    await expect(answers.inTurn('key', 'a', async () => -1)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(await answers.inTurn('another key', 'a', async () => 7)).toBe(7);
    expect(planned).toEqual([]);
    refuse(new Error('It is refused.'));
    await expect(first).rejects.toThrow('It is refused.');
    await Promise.all(others);
    expect(planned).toEqual(others.map((_, at) => at));
    expect(await answers.inTurn('key', 'a', async () => 8)).toBe(8);
  });
});
