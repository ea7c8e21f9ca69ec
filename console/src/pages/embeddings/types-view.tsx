/** What smaller vectors keep of these inputs: each type at each width, measured in the worker. No call, no cost. */
import { Code, Shrink } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { bytes, share, whole } from '../../app/format.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { KeptChart, type KeptLine, type KeptNote } from '../../charts/vectors/kept-chart.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { bytesOf, typeWidths, VECTOR_TYPES, type KeptByType } from '../../workers/vectors/types.ts'
import { nearestWidth } from '../../workers/vectors/widths.ts'
import type { ViewProps } from './map-view.tsx'
import { embeddings as place } from './place.ts'
import type { Run } from './run.ts'
import { measuredOf, smallestOf, type Measured, type Smallest } from './smallest.ts'
import { TYPE_LOOKS, TypesTable } from './types-table.tsx'

/** Inputs below which the ten nearest of each are too large a part of all. */
const MIN_INPUTS = 50
const WISHES = ['90', '95', '99'] as const

export function TypesView(props: ViewProps) {
  const { run, models } = props
  const say = words.embeddings.types
  const model = models.find(({ id }) => id === run.request.model)
  const narrower = model?.embedding?.narrower ?? 'none'
  const widths = useMemo(() => typeWidths(run.width, narrower), [run, narrower])
  if (run.count < MIN_INPUTS)
    return <p className="px-5 py-4 text-ink-2 phone:px-4">{say.few(run.count, MIN_INPUTS)}</p>
  return <MeasuredTypes {...props} widths={widths} />
}

function MeasuredTypes({
  run,
  widthView,
  widths,
  isTable,
  onTable,
}: ViewProps & { readonly widths: readonly number[] }) {
  const { keep = '95' } = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const { kept, error } = useKeptByType(run, widths)
  const say = words.embeddings.types
  if (error !== undefined) return <Problem error={error} />
  if (kept === undefined)
    return <p className="appearing-late px-5 py-4 text-ink-2 phone:px-4">{say.measuring}</p>
  const measured = measuredOf(widths, kept)
  const wish = Number(keep) / 100
  const smallest = smallestOf(measured, wish)
  const useInCode = ({ type, width }: Measured): void => {
    widthView.choose(nearestWidth(widthView.widths, width))
    change({
      view: 'code',
      width: width === run.width ? undefined : width,
      type: type === 'float16' || type === 'binary' ? type : undefined,
    })
  }
  return (
    <div className="flex flex-col gap-3 px-5 py-3.5 phone:px-4">
      <Answer measured={measured} smallest={smallest} wish={wish} onUse={useInCode} />
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-2">
        <h2 className="flex-1 text-13 font-semibold phone:basis-full">{say.title}</h2>
        <span className="text-12 text-ink-2">{say.keep}</span>
        <Segmented
          label={say.keep}
          value={keep}
          segments={WISHES.map((value) => ({ value, label: share(Number(value) / 100, 0) }))}
          onChange={(value) => change({ keep: value === '95' ? undefined : value }, { replace: true })}
        />
      </header>
      <KeptChart
        caption={answerOf(measured, smallest, wish).join(' ')}
        lines={linesOf(measured)}
        notes={notesOf(smallest)}
        wish={{ share: wish, text: say.enough(share(wish, 0)) }}
        bytesText={size}
        shareText={(part) => share(part, 0)}
        table={() => ({
          heads: [say.columns.type, say.columns.dims, say.columns.bytes, say.columns.kept, '±'],
          rows: measured.map(({ type, width, bytes: own, kept: { mean, plusMinus } }) => [
            say.names[type],
            whole(width),
            bytes(own),
            share(mean),
            points(plusMinus),
          ]),
        })}
        isTable={isTable}
        onTable={onTable}
      />
      <TypesTable run={run} widths={widths} kept={kept} wish={wish} smallest={smallest} />
      <p className="text-12 text-ink-2">
        {say.foot(run.count, points(Math.max(...measured.map(({ kept: { plusMinus } }) => plusMinus))))}{' '}
        {widths.length === 1 && say.oneWidth}
      </p>
    </div>
  )
}

/** `12 KB`, where a column would have `12.0 KB`. */
const size = (of: number): string => bytes(of).replace('.0 ', ' ')

const points = (part: number): string => (part * 100).toFixed(1)

interface KeptTypes {
  /** By width, once all are known. */
  readonly kept?: readonly KeptByType[]
  readonly error?: unknown
}

/** One request for each width, so that other views come in between. */
function useKeptByType(run: Run, widths: readonly number[]): KeptTypes {
  const [found, setFound] = useState<{ readonly of: Run } & KeptTypes>()
  useEffect(() => {
    let isOver = false
    const measure = async (): Promise<void> => {
      const kept: KeptByType[] = []
      for (const width of widths) {
        if (isOver) return
        kept.push(await run.vectors.request('types', width))
      }
      if (!isOver) setFound({ of: run, kept })
    }
    measure().catch((error: unknown) => !isOver && setFound({ of: run, error }))
    return () => {
      isOver = true
    }
  }, [run, widths])
  return found?.of === run ? found : {}
}

interface AnswerProps {
  readonly measured: readonly Measured[]
  readonly smallest: Smallest
  readonly wish: number
  readonly onUse: (measured: Measured) => void
}

function Answer({ measured, smallest, wish, onUse }: AnswerProps) {
  const [title, more] = answerOf(measured, smallest, wish)
  const used = smallest.oneStep ?? halved(measured)
  return (
    <Banner
      tone={smallest.oneStep ? 'good' : 'plain'}
      icon={<Shrink size={18} aria-hidden />}
      title={title}
      action={
        used && (
          <Button icon={<Code size={14} aria-hidden />} onClick={() => onUse(used)}>
            {words.embeddings.types.use}
          </Button>
        )
      }
    >
      {more}
    </Banner>
  )
}

/** float16 at full width: what is always there to have. */
function halved(measured: readonly Measured[]): Measured | undefined {
  return measured.find(({ type }) => type === 'float16')
}

/** The finding, and what goes further. */
function answerOf(measured: readonly Measured[], { oneStep, rescored }: Smallest, wish: number): string[] {
  const say = words.embeddings.types
  const full = measured[0]
  const half = halved(measured)
  if (full === undefined || half === undefined) return []
  const wished = share(wish, 0)
  const first =
    oneStep === undefined || (oneStep.type === 'float16' && oneStep.width === full.width)
      ? say.nothing(wished, whole(half.width), share(half.kept.mean))
      : say.smallest(wished, named(oneStep), size(oneStep.bytes), size(full.bytes))
  if (rescored === undefined) return [first]
  const onDisk = size(bytesOf('float16', rescored.width))
  return [first, say.rescored(whole(rescored.width), size(rescored.bytes), onDisk)]
}

function named({ type, width }: Measured): string {
  const say = words.embeddings.types
  return say.at(say.names[type], whole(width))
}

function linesOf(measured: readonly Measured[]): KeptLine[] {
  const say = words.embeddings.types
  return VECTOR_TYPES.map((type) => ({
    name: say.names[type],
    ...TYPE_LOOKS[type],
    points: measured
      .filter((one) => one.type === type)
      .toReversed()
      .map((one) => ({
        bytes: one.bytes,
        kept: one.kept.mean,
        title: named(one),
        values: say.values(size(one.bytes), share(one.kept.mean)),
      })),
  })).filter((line) => line.points.length > 0)
}

function notesOf({ oneStep, rescored }: Smallest): KeptNote[] {
  const say = words.embeddings.types
  const note = (one: Measured, text: string): KeptNote => ({
    point: { bytes: one.bytes, kept: one.kept.mean },
    title: named(one),
    text,
  })
  return [
    ...(rescored ? [note(rescored, say.inMemory(size(rescored.bytes), share(rescored.kept.mean)))] : []),
    ...(oneStep ? [note(oneStep, say.values(size(oneStep.bytes), share(oneStep.kept.mean)))] : []),
  ]
}
