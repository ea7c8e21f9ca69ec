/** What an edit made: before and after, what changed, how far the mask was kept to, and what it cost. */
import { useQuery } from '@tanstack/react-query'
import { Brush, Download, RotateCw } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { requestQueries } from '../../api/queries/requests.ts'
import { duration, moneyExact, moneyInList, whole } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Figures } from '../../ui/figures.tsx'
import { TextLink } from '../../ui/link.tsx'
import { saveBlob, useObjectUrl } from '../../ui/object-url.ts'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import type { Compared } from '../../workers/pixels.worker.ts'
import { Adherence, ChangedMap, MaskEdge } from './adherence.tsx'
import { BeforeAfter } from './before-after.tsx'
import { extensionOf } from './files.ts'
import { fittedWidth } from './fitted-width.ts'
import { compareImages } from '../../workers/pixels.ts'
import type { Run, Tile } from './runs.ts'

/** The facts, buttons and money lines below an edit, with the gaps between them. */
const FACTS_HEIGHT = '11.5rem'

interface ResultProps {
  readonly run: Run
  readonly view: 'pair' | 'changed'
  readonly jobs: ReadonlyMap<string, ImageJob>
  readonly onEdit: (image: Blob) => void
  readonly onAgain: () => void
  readonly bar: ReactNode
}

export function Result({ run, view, jobs, onEdit, onAgain, bar }: ResultProps) {
  const text = words.images
  const done = run.tiles.filter(({ state }) => state === 'done')
  const [chosen, setChosen] = useState(0)
  const [ratio, setRatio] = useState(1)
  const tile = done[chosen] ?? done[0]
  const original = run.files?.images[0]
  const { compared, error, isComparing } = useCompared(run, tile, original)
  const kept = compared?.kept?.image
  const beforeUrl = useObjectUrl(original)
  const afterUrl = useObjectUrl(kept ?? tile?.image)
  if (tile?.image === undefined || afterUrl === undefined || beforeUrl === undefined) return null
  const { image } = tile
  const name = `torana-edit.${extensionOf((kept ?? image).type)}`
  return (
    <section aria-label={text.views.pair} className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-3 border-b border-line px-5 py-1.5 phone:px-4">
        {done.length > 1 && (
          <Segmented
            label={text.howMany}
            value={String(chosen)}
            onChange={(value) => setChosen(Number(value))}
            segments={done.map((_, index) => ({
              value: String(index),
              label: index + 1,
              name: text.tile(index + 1),
            }))}
          />
        )}
        <span className="ml-auto">{bar}</span>
      </header>
      <div className="@container-[size] flex min-h-0 flex-1 gap-5 overflow-y-auto px-5 py-3.5 phone:@container-normal phone:flex-col phone:overflow-visible phone:px-4">
        <div className="flex min-w-0 flex-1 flex-col gap-3.5">
          <div className="shrink-0" style={{ width: fittedWidth(ratio, FACTS_HEIGHT) }}>
            {view === 'changed' && compared !== undefined ? (
              <ChangedMap compared={compared} />
            ) : (
              <BeforeAfter
                onRatio={setRatio}
                before={beforeUrl}
                after={afterUrl}
                over={compared?.edge && <MaskEdge edge={compared.edge} />}
              />
            )}
          </div>
          <Facts
            run={run}
            tile={tile}
            cost={tile.costUsd ?? jobs.get(tile.requestId ?? '')?.cost_usd ?? undefined}
          />
          <div className="flex flex-wrap items-center gap-2 border-b border-line pb-3.5">
            <Button
              size="large"
              icon={<Download size={15} aria-hidden />}
              onClick={() => saveBlob(kept ?? image, name)}
            >
              {text.download}
            </Button>
            <Button
              size="large"
              icon={<RotateCw size={15} aria-hidden />}
              why={run.rerunDisabledReason}
              onClick={onAgain}
            >
              {text.runAgain}
            </Button>
            <Button size="large" icon={<Brush size={15} aria-hidden />} onClick={() => onEdit(kept ?? image)}>
              {text.editThis}
            </Button>
            {tile.requestId !== undefined && (
              <TextLink to={paths.request(tile.requestId)} className="ml-auto text-12">
                {text.itsRequest}
              </TextLink>
            )}
          </div>
          {tile.requestId !== undefined && <Money requestId={tile.requestId} />}
        </div>
        {error !== undefined && <Problem error={error} className="w-65 px-0 py-1" />}
        {isComparing && <p className="w-65 text-12 text-ink-2">{text.comparing}</p>}
        {compared !== undefined && <Adherence compared={compared} />}
      </div>
    </section>
  )
}

interface FactsProps {
  readonly run: Run
  readonly tile: Tile
  readonly cost: string | undefined
}

function Facts({ run, tile, cost }: FactsProps) {
  const { facts } = words.images
  const inputs = run.files?.images.length ?? 0
  return (
    <Figures
      size="peek"
      figures={[
        { name: facts.took, value: duration(tile.tookMs) },
        ...(tile.firstPreviewMs === undefined
          ? []
          : [{ name: facts.firstPreview, value: duration(tile.firstPreviewMs) }]),
        ...(tile.deployment === undefined ? [] : [{ name: facts.servedBy, value: tile.deployment }]),
        { name: facts.given, value: run.mask === undefined ? inputs : facts.andMask(inputs) },
        ...(cost === undefined ? [] : [{ name: facts.cost, value: moneyInList(cost) }]),
      ]}
    />
  )
}

/** The row is written a moment after the answer; until then only rows of the ledger are found. */
const ROW_WITHIN_TRIES = 20
const ROW_EVERY_MS = 1000

function Money({ requestId }: { readonly requestId: string }) {
  const text = words.images
  const { data } = useQuery({
    ...requestQueries.one(requestId),
    retry: ROW_WITHIN_TRIES,
    retryDelay: ROW_EVERY_MS,
    refetchInterval: ({ state }) =>
      state.data !== undefined && !('money' in state.data) && state.dataUpdateCount < ROW_WITHIN_TRIES
        ? ROW_EVERY_MS
        : false,
  })
  if (data === undefined || !('money' in data)) return null
  const { money } = data
  const { of } = words.requests.money
  return (
    <table className="w-full text-12">
      <tbody>
        {money.lines.map((line, index) => (
          <tr key={index}>
            <td className="py-0.5 text-ink-2">{of[line.of](whole(line.count))}</td>
            <td className="py-0.5 text-right tabular-nums">{moneyExact(line.amount_usd)}</td>
          </tr>
        ))}
        <tr className="font-semibold">
          <th scope="row" className="py-0.5 text-left font-semibold">
            {text.posted}
          </th>
          <td className="py-0.5 text-right tabular-nums">{moneyExact(money.posted_usd)}</td>
        </tr>
      </tbody>
    </table>
  )
}

/** Compares in a worker. The last result is kept, so switching the view does not compare again. */
function useCompared(run: Run, tile: Tile | undefined, original: File | undefined) {
  const [result, setResult] = useState<{
    readonly key: string
    readonly compared?: Compared
    readonly error?: unknown
  }>()
  const image = tile?.image
  const key = tile?.key ?? ''
  const isCompared = result?.key === key
  const { mask } = run
  const { keep } = run.settings
  useEffect(() => {
    if (image === undefined || original === undefined || isCompared) return
    let isOver = false
    compareImages(original, image, mask, keep).then(
      (compared) => !isOver && setResult({ key, compared }),
      (error: unknown) => !isOver && setResult({ key, error }),
    )
    return () => {
      isOver = true
    }
  }, [key, image, original, isCompared, mask, keep])
  return {
    compared: isCompared ? result.compared : undefined,
    error: isCompared ? result.error : undefined,
    isComparing: !isCompared && image !== undefined && original !== undefined,
  }
}
