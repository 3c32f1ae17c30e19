// uPlot in the page's colours and width.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../theme';

export type { uPlot };

interface PlotProps {
  /** What it shows, in words, with the numbers that matter: the chart itself is a picture. */
  label: string;
  data: uPlot.AlignedData;
  /** Made anew for each drawing; colour('--ink') is the value of a token. */
  options: (colour: (token: string) => string) => Omit<uPlot.Options, 'width' | 'height'>;
  height?: number;
  /** Changes when options has to be called again. */
  shape?: string;
}

export function Plot({ label, data, options, height = 140, shape = '' }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const chosen = theme.value;
  const system = useSystemTheme();
  useEffect(() => {
    const element = box.current!;
    const made = new uPlot({ ...options(colourOf(element)), width: element.clientWidth || 300, height }, data, element);
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
    // Canvas takes no light-dark(): another theme is another drawing.
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
