import { describe, expect, test } from 'vitest';
import type { LogGap, Tally } from '../src/api/settings';
import { agreement, lacking, verdict } from '../src/lib/replay';

const tally = (more: Partial<Tally> = {}): Tally => ({ checkpoint: 9, records: 4, count: 7, payloads: 4, hours: 5, deployed: 5, occurred: 5, records_checksum: 'a', payloads_checksum: 'b', hours_checksum: 'c', deployments_checksum: 'd', occurrences_checksum: 'e', ...more });

describe('what a replay found', () => {
  test('byte for byte only when all was compared', () => {
    expect(verdict({ swapped: true, differences: [], outdated: false })).toEqual({ tone: 'good', text: 'The two agree byte for byte, and the new records are in place.', details: '' });
    const old = verdict({ swapped: true, differences: [], outdated: true });
    expect(old.text).toBe('The two agree in all that was compared, and the new records are in place.');
    expect(old.details).toContain('left out of the comparison');
  });
  test('differences', () => {
    expect(verdict({ swapped: false, differences: ['records', 'count'], outdated: true })).toEqual({ tone: 'bad', text: 'The two differ, and nothing was replaced.', details: 'records; count' });
    expect(verdict({ swapped: true, differences: ['records'], outdated: false }).tone).toBe('warn');
  });
  test('line by line', () => {
    const of = { live: tally(), replayed: tally({ checkpoint: 10, records_checksum: 'x' }), differences: [] as string[], outdated: true };
    expect(agreement(of, 'records')).toBe('yes');
    expect(agreement(of, 'checkpoint')).toBe('moved on');
    expect(agreement(of, 'records_checksum')).toBe('not compared');
    expect(agreement({ ...of, live: tally({ deployed: 0, deployments_checksum: '0' }) }, 'deployed')).toBe('not compared');
    expect(agreement({ ...of, live: tally({ deployed: 4 }), outdated: false }, 'deployed')).toBe('no');
    expect(agreement({ ...of, outdated: false, differences: ['records'] }, 'records_checksum')).toBe('no');
  });
  test('gaps', () => {
    const gap = (from: number, to: number, least: number, most: number): LogGap => ({ from, to, why: 'missing', least_events: least, most_events: most, others: 0, files: '', by: 'operator', name: 'Ada' });
    expect(lacking([])).toBe('');
    expect(lacking([gap(42, 43, 3, 3)])).toBe('The log lacks the facts 42 to 43, which held 3 events. No replay can bring them back.');
    expect(lacking([gap(1, 1, 0, 5), gap(1200, 1300, 1, 2)])).toBe('The log lacks the facts 1, 1,200 to 1,300, which held 1 to 7 events. No replay can bring them back.');
  });
});
