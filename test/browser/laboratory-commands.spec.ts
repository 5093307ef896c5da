/** The lines for a notebook hold the document and no other code, whatever a link has put into it. */
import { commandText } from '../../clients/pages/laboratory/commands.js';

const ORIGIN = 'http://localhost:8080';

it('quotes the name of a member that is no identifier of Python', () => {
  const name = `x=__import__('os').system('id'), y`;
  const code = commandText('python', { trials: 3, [name]: [true] }, ORIGIN, false);
  expect(code.split('\n').slice(3, 7)).toEqual([
    'result = lab.run(',
    '    trials=3,',
    `    **{${JSON.stringify(name)}: [True]},`,
    ')',
  ]);
});

it('quotes the name of a member that is a keyword of Python', () => {
  const code = commandText('python', { from: 1, of: 2 }, ORIGIN, false);
  expect(code.split('\n').slice(4, 6)).toEqual(['    **{"from": 1},', '    of=2,']);
});
