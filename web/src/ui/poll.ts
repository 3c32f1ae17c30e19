import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/client';

// Longer than any answer takes, so that old figures never look current.
const patience = 8_000;
// The time to wait after an error.
const afterError = 5_000;

/**
 * Asks again and again while the page is visible, one request after the other.
 * After an error the last answer stays and the requests continue; a change of key
 * asks at once.
 */
export function usePoll<T>(ask: (signal: AbortSignal) => Promise<T>, ms: number, key: unknown = ''): { data: T | undefined; error: unknown } {
  const [state, setState] = useState<{ data?: T; error?: unknown }>({});
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asking = false;
    const turn = async () => {
      if (asking) return;
      clearTimeout(timer);
      asking = true;
      const question = new AbortController();
      const end = () => question.abort();
      stop.signal.addEventListener('abort', end);
      const late = setTimeout(end, patience);
      let wait = ms;
      try {
        const data = await latest.current(question.signal);
        if (!stop.signal.aborted) setState({ data });
      } catch (error) {
        wait = Math.min(ms, afterError);
        const told = question.signal.aborted ? new ApiError(0, 'late', `The service has not answered within ${patience / 1000} s.`) : error;
        if (!stop.signal.aborted) setState((s) => ({ ...s, error: told }));
      }
      clearTimeout(late);
      stop.signal.removeEventListener('abort', end);
      asking = false;
      if (!stop.signal.aborted && !document.hidden) timer = setTimeout(() => void turn(), wait);
    };
    const seen = () => { if (!document.hidden) void turn(); };
    document.addEventListener('visibilitychange', seen);
    void turn();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [ms, key]);
  return { data: state.data, error: state.error };
}
