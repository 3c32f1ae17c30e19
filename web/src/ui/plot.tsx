// uPlot in the page's colours and width.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../theme';

export type { uPlot };

/** The parts of options, so that views need not load uPlot themselves. */
export interface Tools {
  bars: (options: uPlot.Series.BarsPathBuilderOpts) => uPlot.Series.PathBuilder;
  /** A UTC date, for days. */
  utc: (seconds: number) => Date;
  /** The label of a tick: hours as 14:00, days and midnights as 21 Nov. */
  tick: (ms: number, step: 'hour' | 'day') => string;
  /** Steps for an axis of counts: whole numbers. */
  whole: number[];
  font: string;
}

interface PlotProps {
  /** The chart in words, with its main numbers: the chart itself is only a picture. */
  label: string;
  data: uPlot.AlignedData;
  /** Called for each drawing; colour('--ink') is the value of a token. */
  options: (colour: (token: string) => string, tools: Tools) => Omit<uPlot.Options, 'width' | 'height'>;
  height?: number;
  /** A change calls options again. */
  shape?: string;
}

export function Plot({ label, data, options, height = 140, shape = '' }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const chosen = theme.value;
  const system = useSystemTheme();
  useEffect(() => {
    const element = box.current!;
    const made = new uPlot({ ...options(colourOf(element), toolsFor(element)), width: element.clientWidth || 300, height }, data, element);
    chart.current = made;
    const watch = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      chart.current = null;
    };
    // A canvas does not understand light-dark(): another theme needs another
    // drawing.
  }, [chosen, system, height, shape]);
  useEffect(() => { chart.current?.setData(data); }, [data]);
  return <div class="plot" ref={box} role="img" aria-label={label} />;
}

function useSystemTheme(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const note = () => setDark(query.matches);
    query.addEventListener('change', note);
    return () => query.removeEventListener('change', note);
  }, []);
  return isDark;
}

function toolsFor(element: HTMLElement): Tools {
  return {
    bars: uPlot.paths.bars!,
    utc: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    tick,
    whole: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1e8, 1e9],
    font: `11px ${getComputedStyle(element).fontFamily}`,
  };
}

function tick(ms: number, step: 'hour' | 'day'): string {
  const at = new Date(ms);
  if (step === 'hour' && (at.getHours() !== 0 || at.getMinutes() !== 0)) {
    return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
  }
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: step === 'day' ? 'UTC' : undefined }).format(at);
}

// The browser resolves light-dark() only in a property that is a colour.
function colourOf(element: HTMLElement): (token: string) => string {
  return (token) => {
    const probe = document.createElement('span');
    probe.style.color = `var(${token})`;
    element.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  };
}
