import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  /** In progress, the first time or again; the earlier data stays meanwhile. */
  loading: boolean;
  reload: () => void;
  /** Replaces the data by the answer to a write. */
  set: (data: T) => void;
}

/** Loads at the start and whenever key changes; an older call is aborted. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, key = ''): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: unknown; loading: boolean }>({ loading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    setState((s) => ({ ...s, error: undefined, loading: true }));
    latest.current(abort.signal).then(
      (data) => { if (!abort.signal.aborted) setState({ data, loading: false }); },
      (error: unknown) => { if (!abort.signal.aborted) setState((s) => ({ ...s, error, loading: false })); },
    );
    return () => abort.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const set = useCallback((data: T) => setState({ data, loading: false }), []);
  return { data: state.data, error: state.error, loading: state.loading, reload, set };
}
