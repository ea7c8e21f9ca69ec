/** The estimate of what is chosen, and the run. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { estimateQueries } from '../../api/queries/batch-estimate.ts'
import { batchQueries } from '../../api/queries/batches.ts'
import type { Schema } from '../../api/client.ts'
import { useWrite } from '../../api/write.ts'
import { noteError } from '../../app/outages.ts'
import { paths } from '../../app/paths.ts'
import { rememberProject } from '../../app/paying-project.ts'
import { useMay } from '../../app/session.ts'
import { useAbort } from '../../ui/abort.ts'
import type { Choices } from './choices.ts'
import { estimateBatch, sampleTexts, type BudgetLeft, type Estimate } from './estimate.ts'
import { makeFile, type Progress } from './make-file.ts'
import type { Corpus } from './use-corpus.ts'
import { whyNot } from './why-not.ts'

export interface Run {
  readonly estimate: Estimate | undefined
  /** By the clock of the browser. */
  readonly estimatedMs: number
  /** The estimate is of the choices before the last change. */
  readonly isStale: boolean
  readonly error: unknown
  readonly retry: () => void
  /** Why it can't be run now. */
  readonly why: string | undefined
  readonly submit: () => Promise<void>
  /** Of the file on its way to the node. */
  readonly progress: Progress | undefined
  readonly stop: () => void
}

interface Wanted {
  readonly corpus: Corpus | undefined
  readonly choices: Choices
  readonly project: string | undefined
  /** null: under the person's own name. */
  readonly key: string | null
  readonly isReading: boolean
}

export function useRun({ corpus, choices, project, key, isReading }: Wanted): Run {
  const navigate = useNavigate()
  const may = useMay()
  const abort = useAbort()
  const [progress, setProgress] = useState<Progress>()
  // A batch whose answer was lost is made of the same file again, which is the same batch.
  const sent = useRef<{ readonly choices: string; readonly fileId: string }>(undefined)
  const { estimate, longBytes, ...asked } = useEstimate({ corpus, choices, project, key, isReading })
  const { send } = useWrite('post', '/api/v1/batches', { touches: ['/api/v1/budgets'] })
  const why = whyNot({
    hasFile: corpus !== undefined,
    isReading,
    choices,
    estimate: asked.isStale ? undefined : estimate,
    isAllowed: may('batches.create', project),
  })
  const submit = async (): Promise<void> => {
    const { model, textColumn, idColumn, dimensions = null, badRows, hours, output } = choices
    if (why !== undefined || corpus === undefined || project === undefined) return
    if (model === undefined || textColumn === undefined) return
    const { file, number, profile } = corpus
    const chosen = JSON.stringify([number, project, model.id, textColumn, idColumn, dimensions, badRows])
    const signal = abort.next()
    try {
      const lines = { file, model: model.id, textColumn, idColumn, dimensions, longBytes }
      const fileId =
        sent.current?.choices === chosen
          ? sent.current.fileId
          : await makeFile({ project, lines, badRows, onProgress: setProgress }, signal)
      sent.current = { choices: chosen, fileId }
      const batch = await send({
        body: {
          project,
          key,
          input_file_id: fileId,
          endpoint: '/v1/embeddings',
          completion_window: `${hours}h`,
          metadata: {
            file: file.name.slice(0, MAX_NOTE),
            rows: String(profile.rows),
            text_column: textColumn.slice(0, MAX_NOTE),
            ...(idColumn !== null && { id_column: idColumn.slice(0, MAX_NOTE) }),
            output,
          },
        },
        headers: { 'Idempotency-Key': `${fileId}-${hours}-${output}` },
      })
      rememberProject(project)
      await navigate(paths.batch(batch.id))
    } catch (error) {
      // Otherwise the person stopped it.
      if (!signal.aborted) {
        noteError(error)
        throw error
      }
    } finally {
      if (!signal.aborted) setProgress(undefined)
    }
  }
  const stop = (): void => {
    abort.stop()
    setProgress(undefined)
  }
  return { ...asked, estimate, why, submit, progress, stop }
}

/** Characters of a note of a batch. */
const MAX_NOTE = 512

const NO_BATCHES: readonly Schema<'ReportedBatch'>[] = []

function useEstimate({ corpus, choices, project, key, isReading }: Wanted) {
  const { model, textColumn, badRows, dimensions } = choices
  const texts = useMemo(
    () => (corpus && textColumn !== undefined ? sampleTexts(corpus.profile, textColumn) : []),
    [corpus, textColumn],
  )
  const isAsked =
    corpus !== undefined && project !== undefined && model !== undefined && texts.length > 0 && !isReading
  const counts = useQuery({
    ...estimateQueries.counts({
      file: corpus?.number ?? 0,
      column: textColumn ?? '',
      project: project ?? '',
      model: model?.id ?? '',
      dimensions: dimensions ?? null,
      texts,
    }),
    enabled: isAsked,
  })
  const ofProject = useQuery({
    ...estimateQueries.budgets(project ?? '', 'project'),
    enabled: project !== undefined,
  })
  const ofKeys = useQuery({
    ...estimateQueries.budgets(project ?? '', 'key'),
    enabled: project !== undefined && key !== null,
  })
  const completed = useInfiniteQuery(batchQueries.list('completed', undefined)).data?.pages[0]?.data
  const isStale = isAsked && (counts.isPending || ofProject.isPending)
  const budgets = useMemo(
    () =>
      [...(ofProject.data?.data ?? []), ...(key === null ? [] : (ofKeys.data?.data ?? []))]
        .filter(({ id }) => id === `project:${project}` || id === `key:${key}`)
        .map(budgetLeft),
    [ofProject.data, ofKeys.data, project, key],
  )
  const isEmpty = corpus !== undefined && textColumn !== undefined && texts.length === 0
  const dryRun = isEmpty ? NO_TEXTS : isAsked ? counts.data : undefined
  const fresh = useMemo(() => {
    if (isStale || !corpus || textColumn === undefined || !model || dryRun === undefined) return undefined
    return estimateBatch({
      profile: corpus.profile,
      textColumn,
      badRows,
      model,
      dimensions,
      dryRun,
      budgets,
      completed: completed ?? NO_BATCHES,
    })
  }, [isStale, corpus, textColumn, badRows, model, dimensions, dryRun, budgets, completed])
  // The one before stays in view until the next is there.
  const [last, setLast] = useState<Estimate>()
  if (fresh !== undefined && fresh !== last) setLast(fresh)
  return {
    estimate: fresh ?? (isStale ? last : undefined),
    estimatedMs: counts.dataUpdatedAt,
    isStale,
    error: isAsked ? (counts.error ?? ofProject.error) : null,
    retry: () => void Promise.all([counts.refetch(), ofProject.refetch()]),
    // Texts up to this many bytes fit the model: a token has at least one.
    longBytes:
      dryRun?.token_counts === 'exact' ? (model?.embedding.max_input_tokens ?? undefined) : undefined,
  }
}

/** A column without a text needs no dry run. */
const NO_TEXTS = { tokens: [], token_counts: 'estimated', deployments: [] } as const

function budgetLeft(budget: Schema<'BudgetStanding'>): BudgetLeft {
  return {
    id: budget.id,
    name: budget.name,
    hard: budget.hard,
    limitUsd: budget.limit_usd,
    leftUsd: budget.left_usd,
    endsAt: budget.window.end,
  }
}
