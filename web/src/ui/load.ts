import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  /** Under way, the first time or again; data of before stays meanwhile. */
  loading: boolean;
  reload: () => void;
  /** Puts in what a write has answered. */
  set: (data: T) => void;
}

/** Loads when it begins and whenever key changes; what is overtaken is aborted. */
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
