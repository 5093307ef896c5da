import { RedisPresence } from './redis-presence.js';

it.each([
  [
    "ERR unknown command 'evalsha', with args beginning with: 'f3' '1' 'nes:client:192.0.2.7'",
    "ERR unknown command 'evalsha'",
  ],
  ['WRONGPASS invalid username-password pair for laboratory', 'WRONGPASS'],
  ['the connection was closed', 'the connection was closed'],
])('says no more of %j than may be published', (message, reason) => {
  const reasons: string[] = [];
  const presence = new RedisPresence(async () => undefined, {
    onAway: (why) => reasons.push(why),
    onBack: () => undefined,
  });
  presence.leave(new Error(message));
  presence.close();
  expect(reasons).toEqual([reason]);
});
