import { describe, expect, test } from 'vitest';
import { recordTitle, titleOf } from '../src/lib/title';

describe('titles', () => {
  test('a record has its class and message', () => {
    expect(titleOf(recordTitle({ exception_class: 'App\\OrderMissing', message_preview: 'order 42 was not found' }))).toBe('App\\OrderMissing: order 42 was not found · Errata');
    expect(recordTitle({ exception_class: '', message_preview: 'no class' })).toBe('no class');
    expect(recordTitle({ exception_class: 'Only', message_preview: '' })).toBe('Only');
    expect(recordTitle({ exception_class: '', message_preview: '' })).toBe('Record');
  });
  test('long ones are cut, between whole characters', () => {
    const long = titleOf('🫖'.repeat(200));
    expect([...long].length).toBe(100 + ' · Errata'.length);
    expect(long.startsWith('🫖'.repeat(99) + '…')).toBe(true);
  });
  test('lines and what cannot be seen', () => {
    expect(titleOf('a\n\t b')).toBe('a b · Errata');
    expect(titleOf('a\u202eb')).toBe('a[RLO]b · Errata');
  });
});
