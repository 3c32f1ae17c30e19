import { afterEach, expect, test, vi } from 'vitest';
import { forgetSeen } from '../src/api/position';

// The client reads the path of the page when it is loaded.
vi.stubGlobal('location', { pathname: '/' });
const { call } = await import('../src/api/client');

afterEach(forgetSeen);

/** A service that answers with these, one after the other, and the positions it was asked with. */
function service(...answers: { status?: number; position: string; body?: unknown }[]): (string | null)[] {
  const asked: (string | null)[] = [];
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers).get('X-Errata-Position'));
    const { status = 200, position, body = { data: null } } = answers.shift()!;
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'X-Errata-Position': position } }));
  });
  return asked;
}

test('a call is sent with the highest position of the answers before it', async () => {
  const asked = service({ position: '7' }, { position: '5' }, { position: '9' });
  for (let i = 0; i < 3; i++) await call('GET', '/x');
  expect(asked).toEqual([null, '7', '7']);
});

test('a failure tells a position too', async () => {
  const asked = service({ status: 503, position: '12', body: { error: { code: 'store_unavailable', message: 'later' } } }, { position: '13' });
  await expect(call('DELETE', '/x')).rejects.toMatchObject({ code: 'store_unavailable' });
  await call('GET', '/x');
  expect(asked).toEqual([null, '12']);
});

test('a position that the log does not have is forgotten, and the call is made once more', async () => {
  const unknown = { error: { code: 'unknown_position', message: 'another log' } };
  const asked = service({ position: '40' }, { status: 422, position: '3', body: unknown }, { position: '4' }, { position: '5' });
  for (let i = 0; i < 3; i++) await call('GET', '/x');
  expect(asked).toEqual([null, '40', null, '4']);
});
