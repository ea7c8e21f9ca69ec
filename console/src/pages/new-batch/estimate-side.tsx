/** The third step: lines, tokens, time and money, the budget, and the button. It follows each change. */
import { Play } from 'lucide-react'
import { age, clock, count, moment, rate, share, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { classes } from '../../ui/classes.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SubmitButton } from '../../ui/field.tsx'
import { Figures } from '../../ui/figures.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { Kbd, withCommand } from '../../ui/kbd.tsx'
import { STALE } from '../../ui/loading.tsx'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'
import { Budget, Cost } from './cost.tsx'
import type { Estimate } from './estimate.ts'

const HOUR_MS = 3_600_000

interface EstimateSideProps {
  readonly estimate: Estimate | undefined
  /** By the clock of the browser. */
  readonly estimatedMs: number
  readonly hours: number
  /** The estimate is of the choices before the last change. */
  readonly isStale: boolean
  readonly error: unknown
  readonly retry: () => void
  /** Why it can't be run now. */
  readonly why: string | undefined
  readonly shell: string
}

export function EstimateSide(props: EstimateSideProps) {
  const { estimate, error, why, isStale } = props
  const say = words.newBatch.estimate
  return (
    <div id="estimate" className="flex flex-col gap-6 px-5 py-4 phone:px-4">
      <div aria-busy={isStale} className={classes('flex flex-col gap-6', isStale && STALE)}>
        {estimate ? (
          <Answer {...props} estimate={estimate} />
        ) : (
          <Section title={say.title}>
            {error === null ? (
              <p className="text-12 text-ink-2">{isStale ? say.calculating : say.none}</p>
            ) : (
              <Problem error={error} retry={props.retry} className="px-0! py-2!" />
            )}
          </Section>
        )}
      </div>
      <div className="flex flex-col gap-2">
        <FormProblem />
        {estimate?.problems
          // Its budget says so where it stands.
          .slice(0, estimate.exceeds === undefined ? undefined : -1)
          .map((text) => (
            <p key={text} className="text-12 text-bad">
              {text}
            </p>
          ))}
        <SubmitButton className="h-9! w-full" why={why} icon={<Play size={14} aria-hidden />}>
          {say.run} <Kbd onInk={why === undefined}>{withCommand('↵')}</Kbd>
        </SubmitButton>
        <p className="text-12 text-ink-3">{say.note}</p>
      </div>
      <CodeBlock code={props.shell} />
    </div>
  )
}

function Answer({
  estimate,
  estimatedMs,
  hours,
  isStale,
  error,
}: EstimateSideProps & { readonly estimate: Estimate }) {
  const nowMs = useNow()
  const say = words.newBatch.estimate
  // It is calculated again every half minute, unless the node does not answer.
  const when = isStale ? say.calculating : error === null ? say.justNow : say.at(clock(estimatedMs))
  return (
    <>
      <Section title={say.title} actions={<span className="text-12 text-ink-3">{when}</span>}>
        <Figures className="justify-between gap-x-3! pt-1" figures={figuresOf(estimate, hours, nowMs)} />
      </Section>
      <Section title={say.how}>
        <p className="text-12 text-ink-2">{howText(estimate)}</p>
        {isLate(estimate, hours) && <p className="pt-1 text-12 text-warn">{say.tooSlow}</p>}
      </Section>
      <Cost estimate={estimate} />
      <Budget estimate={estimate} />
    </>
  )
}

function figuresOf(estimate: Estimate, hours: number, nowMs: number) {
  const say = words.newBatch.estimate
  const { lines, rows, tokens, low, high, basis, seconds } = estimate
  const error = tokens === 0 ? 0 : Math.max(high - tokens, tokens - low) / tokens
  return [
    {
      name: say.lines,
      value: whole(lines),
      note: rows > lines ? say.skipped(rows - lines) : say.noneSkipped,
    },
    {
      name: say.tokens,
      value: count(tokens),
      note: error === 0 ? say.basis[basis] : say.within(say.basis[basis], share(error)),
    },
    {
      name: say.finishes,
      value: seconds === undefined ? say.unknownTime : say.about(clock(nowMs + seconds.high * 1000)),
      note: say.by(moment(nowMs + hours * HOUR_MS, nowMs)),
    },
  ]
}

function howText({ linesPerSecond: perSecond, seconds }: Estimate): string {
  const say = words.newBatch.estimate
  const how =
    perSecond === undefined ? say.live : say.liveAt(perSecond < 10 ? rate(perSecond) : whole(perSecond))
  return seconds === undefined ? how : `${how} ${say.takes(age(seconds.high * 1000))}`
}

function isLate({ seconds }: Estimate, hours: number): boolean {
  return seconds !== undefined && seconds.low * 1000 > hours * HOUR_MS
}
