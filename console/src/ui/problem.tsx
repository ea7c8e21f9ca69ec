/** What stands in the place of data when the console's own call failed. The rest of the page stays. */
import { RotateCw } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { words } from '../words/words.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { CopyIconButton } from './copy.tsx'
import { failureText, mayPass } from './failure.ts'
import { StateMark } from './state-mark.tsx'

interface ProblemProps {
  readonly error: unknown
  readonly retry?: (() => void) | undefined
  readonly className?: string
}

/** Faults of the API carry the id of their request. */
function requestIdOf(error: unknown): string | undefined {
  const id =
    typeof error === 'object' && error !== null ? (error as { requestId?: unknown }).requestId : undefined
  return typeof id === 'string' ? id : undefined
}

export function Problem({ error, retry, className }: ProblemProps) {
  const requestId = requestIdOf(error)
  return (
    <div
      role="alert"
      className={classes('flex max-w-160 items-start gap-2.5 px-6 py-6 phone:px-4', className)}
    >
      <StateMark mark="bad" className="mt-1" />
      <div className="flex flex-col items-start gap-2.5">
        <p className="break-words">{failureText(error)}</p>
        {requestId !== undefined && (
          <p className="flex items-center gap-1 text-12 text-ink-3">
            {words.ui.requestId} <span className="mono-12">{requestId}</span>{' '}
            <CopyIconButton text={requestId} />
          </p>
        )}
        {retry && (
          <span className="flex items-center gap-3">
            <Button icon={<RotateCw size={14} aria-hidden />} onClick={() => retry()}>
              {words.ui.tryAgain}
            </Button>
            {mayPass(error) && <Countdown key={requestId} end={retry} />}
          </span>
        )}
      </div>
    </div>
  )
}

/** Pause before the console tries again by itself: short for the reader, long for a database that is slow. */
const RETRY_AFTER_S = 10

/** The seconds until `end` is called. Without an own live region: the problem was announced, each second is not. */
function Countdown({ end }: { readonly end: () => void }) {
  const [left, setLeft] = useState(RETRY_AFTER_S)
  const tick = useEffectEvent(() => {
    if (left === 1) end()
    setLeft(left === 1 ? RETRY_AFTER_S : left - 1)
  })
  useEffect(() => {
    const timer = setInterval(() => tick(), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <span aria-live="off" className="text-12 text-ink-3 tabular-nums">
      {words.ui.triesAgainIn(left)}
    </span>
  )
}
