import { useEffect, useRef, useState } from 'preact/hooks';

/** The value, which changes at most once in so many milliseconds and ends with the latest. */
export function usePaced<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (shown === value || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      setShown(latest.current);
    }, ms);
  }, [shown, value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return shown;
}
