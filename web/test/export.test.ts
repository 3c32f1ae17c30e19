import { describe, expect, test } from 'vitest';
import type { Detail } from '../src/api/types';
import { frameText, place, quote, stackText, toCurl, toJSON, toMarkdown } from '../src/lib/export';

const record: Detail = {
  id: 7, signature: '00112233445566778899aabbccddeeff', type: 'database', level: 'critical', count: 12345, first_seen: '2026-11-19T03:58:25.123Z',
  last_seen: '2026-11-21T03:58:25.123Z', file: 'src/Orders.php', line: 51, message_preview: 'order 42', exception_class: 'App\\Missing', request_uri: '/checkout?page=2',
  request_method: 'POST', user_id: 3, ip: '203.0.113.9', status: 'open', regressed: true, overflow: false, project: 'shop', project_id: 2, environments: ['production'], releases: ['1.4.2'], users: 2,
  payload: {
    message: 'order 42 failed', release: 'shop@1.4.2',
    exceptions: [
      { class: 'PDOException', message: 'gone away', frames: [{ file: 'db.php', line: 3 }] },
      { class: 'App\\Missing', message: 'order 42', frames: [{ file: 'index.php', line: 1, function: 'main' }, { file: 'src/Orders.php', line: 51, function: 'load', module: 'Orders', args: ['int', 'string(12)'] }] },
    ],
  },
};

test('JSON is the record', () => expect(JSON.parse(toJSON(record))).toEqual(record));

describe('curl', () => {
  test('reads the record, with the key as a variable', () => {
    expect(toCurl(record, 'https://errata.example')).toBe(
      `curl -sS 'https://errata.example/api/v1/admin/tools/logs/errors/00112233445566778899aabbccddeeff?type=database' \\\n  -H "Authorization: Bearer $ERRATA_KEY"`,
    );
  });
  test('words of a shell', () => {
    expect(quote('a/b.c')).toBe('a/b.c');
    expect(quote(`it's $(x)`)).toBe(`'it'\\''s $(x)'`);
    expect(quote('')).toBe(`''`);
  });
});

describe('Markdown', () => {
  test('a record', () => {
    expect(toMarkdown(record, 'https://errata.example/?record=1')).toBe(`### \`App\\Missing\`

\`\`\`
order 42 failed
\`\`\`

- **Level:** critical
- **Status:** open, regressed
- **Seen:** 12,345 times, first 2026-11-19T03:58:25.123Z, last 2026-11-21T03:58:25.123Z
- **Where:** \`src/Orders.php:51\`
- **Request:** \`POST /checkout?page=2\`
- **Release:** \`shop@1.4.2\`
- **Signature:** \`00112233445566778899aabbccddeeff (database)\`

#### Stack

\`\`\`
App\\Missing: order 42
    at Orders.load(int, string(12)) (src/Orders.php:51)
    at main (index.php:1)
caused by PDOException: gone away
    at db.php:3
\`\`\`

<https://errata.example/?record=1>
`);
  });
  test('nobody breaks out of the code', () => {
    const text = toMarkdown({ ...record, exception_class: '`x`\n# y', payload: { message: '```\n<script>\n````' } }, '');
    expect(text).toContain('### `` `x` # y ``');
    expect(text).toContain('`````\n```\n<script>\n````\n`````');
  });
});

test('stacks may be anything', () => {
  expect(stackText(undefined)).toBe('');
  expect(stackText('no' as never)).toBe('');
  expect(stackText([{}])).toBe('');
  expect(frameText({})).toBe('');
  expect(place('a', 0)).toBe('a');
});
