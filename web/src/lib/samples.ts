// The service's metrics, from the text for Prometheus.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The samples of a text; other lines are left out. */
export function parseSamples(text: string): Sample[] {
  const out: Sample[] = [];
  for (const line of text.split('\n')) {
    const parts = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!parts) continue;
    const value = Number(parts[3]!.replace('Inf', 'Infinity'));
    if (Number.isNaN(value)) continue;
    const labels: Record<string, string> = {};
    for (const [, name, quoted] of (parts[2] ?? '').matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name!] = quoted!.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));
    }
    out.push({ name: parts[1]!, labels, value });
  }
  return out;
}

/** The sum over all labels; undefined when there is no such metric. */
export function total(samples: readonly Sample[], name: string): number | undefined {
  const found = samples.filter((s) => s.name === name);
  return found.length === 0 ? undefined : found.reduce((n, s) => n + s.value, 0);
}

/** The values above 0, by a label, the largest first. */
export function byLabel(samples: readonly Sample[], name: string, label: string): [string, number][] {
  return samples.filter((s) => s.name === name && s.value > 0)
    .map((s): [string, number] => [s.labels[label] ?? '', s.value])
    .sort((a, b) => b[1] - a[1]);
}

/** 0, 0.4, 12, 1,204: only digits that matter. */
export function perSecond(n: number): string {
  if (n === 0) return '0';
  return n < 10 ? n.toFixed(1) : Math.round(n).toLocaleString('en');
}

/** 250 ms, 1.4 s, 3 min, 2 h. */
export function seconds(n: number): string {
  if (n < 1) return `${Math.round(n * 1000)} ms`;
  if (n < 90) return `${n < 10 ? Math.round(n * 10) / 10 : Math.round(n)} s`;
  return n < 5400 ? `${Math.round(n / 60)} min` : `${Math.round(n / 3600)} h`;
}
