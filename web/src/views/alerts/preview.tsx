// What a rule would have fired, while it is being made.
import { useEffect, useState } from 'preact/hooks';
import { rehearse, type Rehearsal } from '../../api/alerts';
import { bodyOf, notCountedWords, projectWords, rehearsalWords, type RuleDraft } from '../../lib/alerts';
import { sparkPath } from '../../lib/spark';
import { shortClass } from '../../lib/text';
import { nameOfProject } from '../../projects';
import { LevelBadge } from '../../ui/badge';
import { Safe, Time } from '../../ui/text';
import { wordsOf } from '../../ui/toast';

/** Nobody types as fast. */
const settled = 400;

export function Preview({ draft }: { draft: RuleDraft }) {
  const { name: _, to: __, ...rule } = bodyOf(draft);
  const key = JSON.stringify(rule);
  const [shown, setShown] = useState<{ of?: Rehearsal; error?: string }>({});
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      if (draft.on.length === 0) return setShown({});
      rehearse(rule, abort.signal).then(
        (of) => { if (!abort.signal.aborted) setShown({ of }); },
        (error: unknown) => { if (!abort.signal.aborted) setShown({ error: wordsOf(error) }); },
      );
    }, settled);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [key]);
  const { of, error } = shown;
  const counted = of ? rehearsalWords(of, rule.when) : '';
  return (
    <section class="rehearsal" aria-label="Preview" aria-live="polite">
      {error ? <p class="dim">{error}</p> : !of ? <p class="dim">{draft.on.length === 0 ? 'Tick what somebody is to be told of.' : 'Looking at the last 7 days…'}</p> : (
        <>
          <div class="rehearsal-head">
            <p>{counted ? <b>{counted} </b> : null}<span class="dim">{notCountedWords(of)}</span></p>
            {of.fired > 0 ? <svg class="rehearsal-days" viewBox="0 0 84 20" preserveAspectRatio="none" role="img" aria-label={`By day, the oldest first: ${of.days.join(', ')}`}><path d={sparkPath(of.days, { width: 84, height: 20 })} /></svg> : null}
          </div>
          {of.latest.length > 0 ? (
            <ul>
              {of.latest.map((f) => (
                <li key={`${f.at} ${f.type} ${f.signature} ${f.project_id} ${f.cause}`}>
                  {f.signature
                    ? <><LevelBadge level={f.level} /> <Safe class="class" text={shortClass(f.exception_class)} /> <Safe class="rehearsal-text" text={f.message_preview} /></>
                    : <><Safe class="class" text={nameOfProject(f.project_id)} /> <span class="rehearsal-text">{projectWords(f)}</span></>}
                  <span class="dim"><Time iso={f.at} /></span>
                </li>
              ))}
            </ul>
          ) : null}
        </>
      )}
    </section>
  );
}
