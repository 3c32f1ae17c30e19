// A record as text, to be pasted elsewhere.
import type { Detail, Exception, Frame } from '../api/types';

/** The record as indented JSON. */
export function toJSON(record: Detail): string {
  return JSON.stringify(record, null, 2);
}

/** The call that reads the record. The key is a variable: a key must not travel with what is pasted. */
export function toCurl(record: Detail, origin: string): string {
  const url = `${origin}/api/v1/admin/tools/logs/errors/${record.signature}?type=${record.type}`;
  return `curl -sS ${quote(url)} \\\n  -H "Authorization: Bearer $ERRATA_KEY"`;
}

/** A word for a POSIX shell. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The record for an issue tracker. What strangers wrote stands in code, where Markdown does nothing. */
export function toMarkdown(record: Detail, link: string): string {
  const p = record.payload;
  const lines = [`### ${code(record.exception_class || record.level)}`, '', fence(p.message || record.message_preview), ''];
  const facts: [string, string | undefined][] = [
    ['Level', record.level],
    ['Status', record.regressed ? `${record.status}, regressed` : record.status],
    ['Seen', `${record.count.toLocaleString('en')} times, first ${record.first_seen}, last ${record.last_seen}`],
    ['Where', place(record.file, record.line)],
    ['Request', [record.request_method, record.request_uri].filter(Boolean).join(' ')],
    ['Release', p.release],
    ['Environment', p.environment],
    ['Signature', `${record.signature} (${record.type})`],
  ];
  for (const [name, value] of facts) {
    if (value) lines.push(`- **${name}:** ${name === 'Level' || name === 'Status' || name === 'Seen' ? value : code(value)}`);
  }
  const stack = stackText(p.exceptions);
  if (stack) lines.push('', '#### Stack', '', fence(stack));
  if (link) lines.push('', `<${link}>`);
  return `${lines.join('\n')}\n`;
}

/** All exceptions, what was thrown first, the latest call first. */
export function stackText(exceptions: readonly Exception[] | undefined): string {
  if (!Array.isArray(exceptions)) return '';
  return [...exceptions].reverse().map((e, i) => {
    const head = [e.class, e.message].filter(Boolean).join(': ');
    const frames = [...(Array.isArray(e.frames) ? e.frames : [])].reverse().map((f) => `    at ${frameText(f)}`);
    return [(i > 0 ? 'caused by ' : '') + head, ...frames].join('\n');
  }).join('\n');
}

/** One line of a stack. */
export function frameText(frame: Frame): string {
  const name = [frame.module, frame.function].filter(Boolean).join('.');
  const args = frame.args?.length ? `(${frame.args.join(', ')})` : '';
  const where = place(frame.file, frame.line);
  if (!name) return where;
  return `${name}${args}${where ? ` (${where})` : ''}`;
}

/** file:line, or what there is of it. */
export function place(file: string | undefined, line: number | undefined): string {
  if (!file) return '';
  return line ? `${file}:${line}` : file;
}

// As many backticks as are needed around those inside.
function ticks(text: string, least: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const around = ticks(line, 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return around + pad + line + pad + around;
}

function fence(text: string): string {
  const around = ticks(text, 3);
  return `${around}\n${text}\n${around}`;
}
