// What fires a rule: boxes with their numbers.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { causes, causeWords, type Cause, type NumberName, type RuleDraft } from '../../lib/alerts';
import { Check } from '../../ui/field';

interface CausesProps {
  draft: RuleDraft;
  errors: Record<string, string>;
  set: (next: Partial<RuleDraft>) => void;
}

export function Causes({ draft, errors, set }: CausesProps) {
  const id = useId();
  const turn = (cause: Cause) => set({ on: draft.on.includes(cause) ? draft.on.filter((c) => c !== cause) : [...draft.on, cause] });
  const number = (name: NumberName, label: string) => (
    <input
      name={name} aria-label={label} type="number" min={0} inputMode="numeric" value={draft.numbers[name]} aria-invalid={errors[name] ? 'true' : undefined}
      aria-describedby={errors[name] ? `${id}-error` : undefined} onInput={(e) => set({ numbers: { ...draft.numbers, [name]: e.currentTarget.value } })}
    />
  );
  const more: Partial<Record<Cause, ComponentChildren>> = {
    reached: <>{number('reached', 'Events of the problem')} events in all</>,
    frequency: <>{number('count', 'Events')} events of {number('users', 'Users')} users (or any) in {number('minutes', 'Minutes')} minutes</>,
    spike: <>{number('factor', 'Times the usual')} times the usual in {number('spike', 'Minutes of the spike')} minutes</>,
    quiet: <>for {number('quiet', 'Minutes of silence')} minutes</>,
  };
  const wrong = ['reached', 'count', 'users', 'minutes', 'factor', 'spike', 'quiet'].map((name) => errors[name]).find(Boolean);
  return (
    <fieldset class="boxes causes">
      <legend>Tell somebody when</legend>
      {causes.map((cause) => {
        const on = draft.on.includes(cause);
        return (
          <div key={cause} class="cause">
            <Check label={causeWords[cause]} checked={on} onChange={() => turn(cause)} />
            {on && more[cause] ? <span class="cause-numbers">{more[cause]}</span> : null}
          </div>
        );
      })}
      {wrong ? <div class="error bad" id={`${id}-error`} role="alert">{wrong}</div> : null}
      {errors.when ? <div class="error bad group-error" role="alert" tabIndex={-1}>{errors.when}</div> : null}
    </fieldset>
  );
}
