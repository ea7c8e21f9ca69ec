/** Three steps on top. All fields stay in view and can be changed; a step leads to its part of the page. */
import { classes } from '../../ui/classes.ts'
import { StateMark, type Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'

type StepState = 'done' | 'now' | 'later'

export interface Step {
  readonly title: string
  readonly note: string
  readonly state: StepState
  /** Id of its part of the page. */
  readonly part: string
}

const LINE: Record<StepState, string> = {
  done: 'border-good-fill',
  now: 'border-accent',
  later: 'border-line',
}
const MARK: Record<StepState, Mark> = { done: 'good', now: 'wait', later: 'off' }

export function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const say = words.newBatch.steps
  return (
    <ol aria-label={say.label} className="grid grid-cols-3 gap-2">
      {steps.map(({ title, note, state, part }, index) => (
        <li
          key={part}
          aria-current={state === 'now' ? 'step' : undefined}
          className={classes('min-w-0 border-t-3', LINE[state])}
        >
          <button
            type="button"
            className="flex w-full min-w-0 items-start gap-2 pt-2 text-left"
            onClick={() => document.getElementById(part)?.scrollIntoView({ block: 'start' })}
          >
            <StateMark mark={MARK[state]} word={say.state[state]} className="mt-1 phone:hidden" />
            <span className="min-w-0">
              <span className="line-clamp-2 font-semibold">
                {index + 1} {title}
              </span>
              <span className="block truncate text-12 text-ink-2 phone:hidden">{note}</span>
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}
