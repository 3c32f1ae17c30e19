// The noise rules of a project, one in each row.
import { useRef } from 'preact/hooks';
import { ruleActions, ruleFields, type NoiseRule, type Project } from '../../api/projects';
import { actionWords, fieldWords, newRule, ruleErrors, withRule } from '../../lib/projects';
import { Button } from '../../ui/button';
import { Unsaved } from '../../ui/field';
import { Group } from '../settings/form';
import type { Setting } from '../settings/setting';

// As the service has it.
const most = 100;

export function Rules({ of, rules }: { of: Setting<Project>; rules: readonly NoiseRule[] }) {
  const box = useRef<HTMLDivElement>(null);
  const whole = of.errors.value.noise;
  const set = (next: readonly NoiseRule[], focus?: string) => {
    of.set('noise', next);
    // Drawn by then.
    if (focus) requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(focus)?.focus());
  };
  const add = () => set([...rules, newRule], `[name="noise[${rules.length}].match"]`);
  const remove = (at: number) => set(rules.filter((_, i) => i !== at), rules.length > 1 ? `[data-remove="${Math.min(at, rules.length - 2)}"]` : '.rules-add button');
  return (
    <Group title="Noise rules" hint="What happens to events whose field matches. An asterisk stands for any characters, such as ChunkLoadError* or *bot*.">
      <div class="stack" ref={box}>
        {of.isChanged('noise') ? <Unsaved id="noise" /> : null}
        {whole ? <div class="error bad" role="alert">{whole}</div> : null}
        {rules.length === 0 ? <p class="dim">There is no rule: every event counts.</p> : (
          <ol class="rules" aria-label="Noise rules">
            {rules.map((rule, i) => (
              <Rule key={i} at={i} rule={rule} errors={ruleErrors(of.errors.value, i)} onChange={(change) => set(withRule(rules, i, change))} onRemove={() => remove(i)} />
            ))}
          </ol>
        )}
        <div class="row rules-add"><Button disabled={rules.length >= most} onClick={add}>Add a rule</Button></div>
      </div>
    </Group>
  );
}

interface RuleProps {
  at: number;
  rule: NoiseRule;
  /** By the name of the field. */
  errors: Record<string, string>;
  onChange: (change: Partial<NoiseRule>) => void;
  onRemove: () => void;
}

function Rule({ at, rule, errors, onChange, onRemove }: RuleProps) {
  const words = Object.values(errors).join(' ');
  const id = `rule-${at}-error`;
  const ties = (name: keyof NoiseRule) => ({
    name: `noise[${at}].${name}`, 'aria-invalid': errors[name] ? ('true' as const) : undefined, 'aria-describedby': errors[name] ? id : undefined,
  });
  return (
    <li class="field">
      <div class="rule">
        <select {...ties('field')} aria-label={`Field of rule ${at + 1}`} value={rule.field} onChange={(e) => onChange({ field: e.currentTarget.value as NoiseRule['field'] })}>
          {ruleFields.map((f) => <option key={f} value={f}>{fieldWords[f]}</option>)}
        </select>
        <input
          {...ties('match')} aria-label={`Text of rule ${at + 1}`} class="mono" value={rule.match} placeholder="text, * for any" spellcheck={false} autocomplete="off"
          onInput={(e) => onChange({ match: e.currentTarget.value })}
        />
        <select {...ties('action')} aria-label={`Action of rule ${at + 1}`} value={rule.action} onChange={(e) => onChange({ action: e.currentTarget.value as NoiseRule['action'] })}>
          {ruleActions.map((a) => <option key={a} value={a}>{actionWords[a]}</option>)}
        </select>
        <Button kind="quiet" class="icon" aria-label={`Remove rule ${at + 1}`} data-remove={at} onClick={onRemove}>×</Button>
      </div>
      {words ? <div class="error" id={id} role="alert">{words}</div> : null}
    </li>
  );
}
