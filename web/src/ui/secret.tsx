import { CopyButton } from './button';

/** A text to copy that is shown once. */
export function Secret({ label, text }: { label: string; text: string }) {
  return (
    <div class="secret">
      <span class="secret-label">{label}</span>
      <code class="mono">{text}</code>
      <CopyButton text={() => text} />
    </div>
  );
}
