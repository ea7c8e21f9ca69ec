/** The pending changes beside the page, or in a sheet where there is no room: difference, effects, Save, and what was saved before. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shellQueries } from '../../api/queries/shell.ts'
import { useMay } from '../../app/session.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { Kbd, withCommand } from '../../ui/kbd.tsx'
import { Bar } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateMark, type Mark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { DiffView } from './diff-view.tsx'
import { effectLines } from './effects.ts'
import type { Pending } from './pending.ts'

export function ChangePanel({ pending }: { readonly pending: Pending }) {
  const say = words.routing.changes
  const { count, preview, isStale, previewError, conflict, problem } = pending
  return (
    <section aria-label={say.title} className="flex flex-col gap-2.5 px-5 pt-3.5 pb-4 phone:px-0">
      <header className="flex min-h-7 items-center gap-2">
        <h2 className="text-13 font-semibold">{say.title}</h2>
        {count > 0 && <Tag tone="accent">{count}</Tag>}
        {count > 0 && <span className="ml-auto text-12 text-ink-2">{say.notSaved}</span>}
      </header>
      {conflict !== undefined && <Conflict text={conflict} pending={pending} />}
      {count === 0 ? (
        <p className="text-12 text-ink-2">{say.none}</p>
      ) : (
        <>
          {preview !== undefined && <DiffView preview={preview} isStale={isStale} />}
          {preview === undefined && previewError === null && <Bar className="h-24 w-full" />}
          {previewError !== null && conflict === undefined && (
            <Problem error={previewError} className="px-0! py-2!" />
          )}
          {preview !== undefined && <Effects pending={pending} />}
          {problem !== undefined && <FormProblem>{problem}</FormProblem>}
          <Buttons pending={pending} />
          <TakesEffect />
        </>
      )}
    </section>
  )
}

function Conflict({ text, pending }: { readonly text: string; readonly pending: Pending }) {
  const say = words.routing.changes
  return (
    <Banner tone="warn" title={text}>
      <span className="flex gap-2 pt-1.5">
        <Button size="small" onClick={() => void pending.rebase()}>
          {say.rebase}
        </Button>
        <Button size="small" onClick={pending.discard}>
          {say.discard}
        </Button>
      </span>
    </Banner>
  )
}

function Effects({ pending: { preview, isStale } }: { readonly pending: Pending }) {
  const say = words.routing.changes
  if (preview === undefined) return null
  const { check, effects } = preview
  const lines: readonly (readonly [mark: Mark, text: string])[] = [
    // A banner has those of another admin's change.
    ...check.errors
      .filter((error) => !error.is_stale)
      .map(({ name, message }) => ['bad', `${name}: ${message}`] as const),
    ...(check.ok ? [isStale ? (['wait', say.checking] as const) : (['good', say.passed] as const)] : []),
    ...(check.ok ? effectLines(effects) : []),
  ]
  return (
    <div role="status">
      <ul className="flex flex-col gap-1.5 py-1 text-12 leading-[18px]">
        {lines.map(([mark, text], at) => (
          <li key={at} className={mark === 'bad' ? 'flex gap-2.5 text-bad' : 'flex gap-2.5 text-ink-2'}>
            <StateMark mark={mark} word="" size={10} className="mt-1" />
            <span className="min-w-0 break-words">{text}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Buttons({ pending }: { readonly pending: Pending }) {
  const say = words.routing.changes
  const [isAsking, setAsking] = useState(false)
  return (
    <div className="flex gap-2">
      <Button
        look="primary"
        size="large"
        writes
        className="flex-1"
        busy={pending.busy}
        why={pending.why}
        onClick={() => void pending.save()}
      >
        {say.save} <Kbd onInk>{withCommand('S')}</Kbd>
      </Button>
      <Button
        size="large"
        className="w-26"
        onClick={() => (pending.count > 1 ? setAsking(true) : pending.discard())}
      >
        {say.discard}
      </Button>
      {isAsking && <DiscardDialog pending={pending} onClose={() => setAsking(false)} />}
    </div>
  )
}

export function DiscardDialog({
  pending,
  onClose,
}: {
  readonly pending: Pending
  readonly onClose: () => void
}) {
  const say = words.routing.changes
  return (
    <ConfirmDialog
      title={say.discardTitle}
      description={say.discardText(pending.count)}
      go={say.discard}
      onGo={pending.discard}
      onClose={onClose}
    />
  )
}

function TakesEffect() {
  const may = useMay()
  const { data } = useQuery({ ...shellQueries.nodes(), enabled: may('nodes.read') })
  const alive = data?.data.filter(({ state }) => state === 'alive').length ?? 1
  return <p className="text-12 text-ink-2">{words.routing.changes.takesEffect(alive)}</p>
}
