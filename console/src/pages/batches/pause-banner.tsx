/** Why no line of a batch starts, and the next step. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Play, Wallet } from 'lucide-react'
import type { ReactNode } from 'react'
import type { BatchDetail } from '../../api/queries/batches.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { useWrite } from '../../api/write.ts'
import { moment } from '../../app/format.ts'
import { nanoOf } from '../../app/money.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { useNow } from '../../time/now.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

interface PauseProps {
  readonly batch: BatchDetail
  readonly pause: NonNullable<BatchDetail['pause']>
}

export function PauseBanner({ batch, pause }: PauseProps) {
  const nowMs = useNow()
  const say = words.batches
  const { code, text, by, reason, until: next } = pause
  return (
    <Banner
      tone="warn"
      title={
        by === null
          ? isKnown(code)
            ? say.pauses[code](batch.key)
            : say.pausedBecause(code)
          : say.pausedBy(by)
      }
      action={<NextStep batch={batch} pause={pause} />}
    >
      {reason !== null && <p dir="auto">{say.reason(reason)}</p>}
      <p>
        {by === null && !isKnown(code) && `${text} `}
        {hasNextStep(code) && `${say.nextStep[code]} `}
        {next !== null && `${say.nextAttempt(moment(next, nowMs))} `}
        {say.willExpire(moment(batch.expires_at, nowMs))}
      </p>
    </Banner>
  )
}

function NextStep({ batch, pause: { remedy } }: PauseProps): ReactNode {
  const say = words.batches
  switch (remedy.kind) {
    case 'resume':
      return <Resume batch={batch} />
    case 'continue':
      return <Continue batch={batch} />
    case 'raise_budget':
      return <ChangeBudget project={remedy.project} ofKey={remedy.key} />
    case 'check_space':
      return (
        remedy.model !== null && (
          <ButtonLink to={paths.model(remedy.model, { tab: 'space' })}>{say.toSpace}</ButtonLink>
        )
      )
    case 'check_upstream':
      return <ButtonLink to={paths.deployments()}>{say.toDeployments}</ButtonLink>
    case 'free_storage':
    case 'wait':
      return null
  }
}

/** Leads to the hard budget with the least left: that of the key, or of the project. */
function ChangeBudget({ project, ofKey }: { readonly project: string; readonly ofKey: string }) {
  const found = useInfiniteQuery(moneyQueries.budgets(undefined, project))
  const [least] = (found.data?.pages.flatMap(({ data }) => data) ?? [])
    .filter(({ id, hard }) => hard && (id === `project:${project}` || id === `key:${ofKey}`))
    .toSorted((a, b) => (nanoOf(a.left_usd) < nanoOf(b.left_usd) ? -1 : 1))
  return (
    <ButtonLink
      to={least === undefined ? paths.budgets() : paths.budget(least.id)}
      icon={<Wallet size={14} aria-hidden />}
    >
      {words.batches.changeBudget}
    </ButtonLink>
  )
}

function Resume({ batch }: Pick<PauseProps, 'batch'>) {
  const may = useMay()
  const resume = useWrite('post', '/api/v1/batches/{id}/resume')
  const say = words.batches.resume
  return (
    <Button
      icon={<Play size={14} aria-hidden />}
      why={may('batches.pause', batch.project) ? undefined : say.forbidden}
      busy={resume.busy}
      writes
      onClick={() => resume.now({ params: { path: { id: batch.id } } }, () => toast(say.toast))}
    >
      {say.action}
    </Button>
  )
}

/** Where its key has ended, only a person can decide whether the batch continues. */
function Continue({ batch }: Pick<PauseProps, 'batch'>) {
  const may = useMay()
  const goOn = useWrite('post', '/api/v1/batches/{id}/continue')
  const say = words.batches.goOn
  return (
    <Button
      icon={<Play size={14} aria-hidden />}
      why={may('batches.continue', batch.project) ? undefined : say.forbidden}
      busy={goOn.busy}
      writes
      onClick={() =>
        goOn.now({ params: { path: { id: batch.id } } }, ({ project }) => toast(say.toast(project)))
      }
    >
      {say.action}
    </Button>
  )
}

function isKnown(code: string): code is keyof typeof words.batches.pauses {
  return code in words.batches.pauses
}

function hasNextStep(code: string): code is keyof typeof words.batches.nextStep {
  return code in words.batches.nextStep
}
