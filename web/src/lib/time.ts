// Times for people, in the viewer's zone.

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago, short: now, 42s, 5m, 3h, 12d, 2y; for the future "in 3h". */
export function relative(iso: string, now: number): string {
  const then = Date.parse(iso);
  if (Number.isNaN(then)) return '–';
  const gone = now - then;
  if (gone < -minute) return `in ${span(-gone)}`;
  if (gone < 5_000) return 'now';
  return span(gone);
}

/** The same inside a sentence: "just now", "5m ago", "in 3h". */
export function ago(iso: string, now: number): string {
  const text = relative(iso, now);
  if (text === 'now') return 'just now';
  return text === '–' || text.startsWith('in ') ? text : `${text} ago`;
}

function span(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / 1000)}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m`;
  if (ms < 48 * hour) return `${Math.floor(ms / hour)}h`;
  if (ms < 730 * day) return `${Math.floor(ms / day)}d`;
  return `${Math.floor(ms / (365 * day))}y`;
}

const exactly: Intl.DateTimeFormatOptions = {
  year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
  fractionalSecondDigits: 3, hourCycle: 'h23', timeZoneName: 'short',
};
const hourly: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const daily: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };

// Making one costs more than all formatting of a page with it.
const made = new Map<Intl.DateTimeFormatOptions, Map<string, Intl.DateTimeFormat>>();

function format(options: Intl.DateTimeFormatOptions, zone = ''): Intl.DateTimeFormat {
  const zones = made.get(options) ?? new Map<string, Intl.DateTimeFormat>();
  made.set(options, zones);
  const have = zones.get(zone) ?? new Intl.DateTimeFormat('en-GB', zone ? { ...options, timeZone: zone } : options);
  zones.set(zone, have);
  return have;
}

/** 2026-11-21 03:58:25.123 with the zone of the viewer, or of zone when it is given. */
export function exact(iso: string, zone?: string): string {
  const then = new Date(iso);
  if (Number.isNaN(then.getTime())) return iso;
  const parts = Object.fromEntries(format(exactly, zone).formatToParts(then).map((p) => [p.type, p.value]));
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}.${parts.fractionalSecond} ${parts.timeZoneName}`;
}

/** The start of a bucket of a chart, short: 14:00 or 21 Nov. */
export function bucket(ms: number, step: 'hour' | 'day'): string {
  // Days are UTC days.
  return step === 'hour' ? format(hourly).format(ms) : format(daily, 'UTC').format(ms);
}

/** YYYY-MM-DD of a UTC day, this many days ago. */
export function dayUTC(now: number, back = 0): string {
  return new Date(now - back * day).toISOString().slice(0, 10);
}
