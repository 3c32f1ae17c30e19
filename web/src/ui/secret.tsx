import { CopyButton } from './button';

/** A text that is shown once, to be copied. */
export function Secret({ label, text }: { label: string; text: string }) {
  return (
    <div class="secret">
      <span class="secret-label">{label}</span>
      <code class="mono">{text}</code>
      <CopyButton text={() => text} />
    </div>
  );
}
