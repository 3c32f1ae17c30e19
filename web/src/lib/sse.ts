// Server-sent events, read from the chunks of a fetch. EventSource would be
// less work and cannot send the key.

export interface Message {
  event: string;
  data: string;
}

/** Takes text in any pieces and gives the messages that are complete. */
export class SSEParser {
  private rest = '';
  private event = '';
  private data: string[] = [];
  /** The last piece ended in CR, and a LF may follow that belongs to it. */
  private afterCR = false;

  push(chunk: string): Message[] {
    if (this.afterCR && chunk.startsWith('\n')) chunk = chunk.slice(1);
    if (chunk !== '') this.afterCR = chunk.endsWith('\r');
    const lines = (this.rest + chunk).split(/\r\n|\r|\n/);
    this.rest = lines.pop()!;
    const out: Message[] = [];
    for (const line of lines) this.line(line, out);
    return out;
  }

  private line(line: string, out: Message[]): void {
    if (line === '') {
      if (this.data.length > 0) out.push({ event: this.event || 'message', data: this.data.join('\n') });
      this.event = '';
      this.data = [];
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment, the heartbeat
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.event = value;
    else if (field === 'data') this.data.push(value);
  }
}

/** Milliseconds before try n (from 0): doubles from one second to thirty, with up to half taken off at random. */
export function backoff(n: number, random: number): number {
  const full = Math.min(30_000, 1000 * 2 ** Math.min(n, 10));
  return Math.round(full * (1 - random / 2));
}
