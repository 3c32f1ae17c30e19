import { describe, expect, test } from 'vitest';
import { createParser } from 'eventsource-parser';
import { backoff } from '../src/lib/backoff';

interface Message {
  event: string;
  data: string;
}

const stream = ': hi\n\nevent: hello\ndata: {"position":7}\n\n: beat\n\nevent: records\ndata: {"a":\ndata: 1}\n\ndata: plain\nid: 3\n\nevent: empty\n\n';
const want: Message[] = [
  { event: 'hello', data: '{"position":7}' },
  { event: 'records', data: '{"a":\n1}' },
  { event: 'message', data: 'plain' },
];

function parse(...chunks: string[]): Message[] {
  const out: Message[] = [];
  const parser = createParser({ onEvent: ({ event = 'message', data }) => out.push({ event, data }) });
  for (const chunk of chunks) parser.feed(chunk);
  return out;
}

describe('the parser', () => {
  test('a whole stream', () => expect(parse(stream)).toEqual(want));
  test('cut anywhere, it is the same', () => {
    for (let i = 0; i <= stream.length; i++) expect(parse(stream.slice(0, i), stream.slice(i))).toEqual(want);
    expect(parse(...stream)).toEqual(want);
  });
  test('all line ends, cut anywhere', () => {
    for (const end of ['\r\n', '\r']) {
      const text = stream.replaceAll('\n', end);
      expect(parse(...text)).toEqual(want);
      expect(parse(text)).toEqual(want);
    }
  });
  test('a message that has not ended is not given', () => expect(parse('event: records\ndata: {}\n')).toEqual([]));
  test('one leading blank goes, more stay', () => expect(parse('data:  x\ndata:y\n\n')).toEqual([{ event: 'message', data: ' x\ny' }]));
  test('every beginning of a stream is taken without an error', () => {
    for (let i = 0; i <= stream.length; i++) expect(parse(stream.slice(0, i)).length).toBeLessThanOrEqual(want.length);
  });
});

test('tries become rarer, up to half a minute', () => {
  expect(backoff(0, 0)).toBe(1000);
  expect(backoff(0, 1)).toBe(500);
  expect(backoff(3, 0)).toBe(8000);
  expect(backoff(500, 0)).toBe(30_000);
});
