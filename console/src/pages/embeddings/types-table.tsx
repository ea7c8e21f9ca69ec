/** Every type at every width: what is kept over its bytes, who makes it, and how stores call it. */
import { bytes, share, whole } from '../../app/format.ts'
import { paint, type Colour } from '../../charts/colours.ts'
import { ShapeMark } from '../../charts/vectors/mark.tsx'
import type { Shape } from '../../charts/vectors/marks.ts'
import { upstreamsOf } from '../../parts/deployments/short-names.ts'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import { bytesOf, VECTOR_TYPES, type KeptByType, type VectorType } from '../../workers/vectors/types.ts'
import type { Run } from './run.ts'
import type { Smallest } from './smallest.ts'

interface TypeLook {
  readonly colour: Colour
  readonly shape: Shape
  readonly isDashed?: boolean
}

export const TYPE_LOOKS: Record<VectorType, TypeLook> = {
  float: { colour: 's1', shape: 'circle' },
  float16: { colour: 's2', shape: 'square' },
  rescored: { colour: 's6', shape: 'diamond' },
  binary: { colour: 's4', shape: 'wedge', isDashed: true },
}

/** Column types of pgvector and Qdrant. */
const STORED_AS: Record<VectorType, string> = {
  float: 'vector',
  float16: 'halfvec',
  rescored: 'bit + halfvec',
  binary: 'bit',
}

interface TypesTableProps {
  readonly run: Run
  readonly widths: readonly number[]
  readonly kept: readonly KeptByType[]
  readonly wish: number
  readonly smallest: Smallest
}

export function TypesTable({ run, widths, kept, wish, smallest }: TypesTableProps) {
  const say = words.embeddings.types
  const isBest = (type: VectorType, width: number): boolean =>
    [smallest.oneStep, smallest.rescored].some((one) => one?.type === type && one.width === width)
  return (
    <div role="region" aria-label={say.title} tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-12">
        <thead>
          <tr className="h-8 border-b border-line text-left text-ink-2">
            <th scope="col" className="min-w-36 font-normal">
              {say.columns.type}
            </th>
            {widths.map((width) => (
              <th key={width} scope="col" className="px-2 text-right font-normal tabular-nums">
                {whole(width)}
              </th>
            ))}
            <th scope="col" className="pl-6 font-normal">
              {say.columns.madeBy}
            </th>
            <th scope="col" className="pl-6 font-normal">
              {say.columns.storedAs}
            </th>
          </tr>
        </thead>
        <tbody>
          {VECTOR_TYPES.map((type) => (
            <tr key={type} className="border-b border-line">
              <th scope="row" className="py-1 pr-3 text-left font-strong whitespace-nowrap">
                <span className="flex items-center gap-2">
                  <ShapeMark shape={TYPE_LOOKS[type].shape} fill={paint(TYPE_LOOKS[type].colour)} size={9} />
                  {say.names[type]}
                </span>
              </th>
              {widths.map((width, place) => {
                const mean = kept[place]?.[type]?.mean
                return (
                  <td
                    key={width}
                    className={classes(
                      'px-2 py-0.5 text-right leading-4 whitespace-nowrap tabular-nums',
                      isBest(type, width) && 'bg-good-tint outline outline-good-fill',
                    )}
                  >
                    <Kept
                      mean={mean}
                      size={bytesOf(type, width)}
                      isEnough={mean !== undefined && mean >= wish}
                    />
                  </td>
                )
              })}
              <td className="pl-6 whitespace-nowrap">
                {type === 'float'
                  ? run.deployment === undefined
                    ? say.madeBy.float
                    : upstreamsOf(run.deployment.split(', '), run.request.model)
                  : say.madeBy[type]}
              </td>
              <td className="pl-6 whitespace-nowrap">
                <code className="mono-12">{STORED_AS[type]}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface KeptProps {
  readonly mean: number | undefined
  readonly size: number
  readonly isEnough: boolean
}

function Kept({ mean, size, isEnough }: KeptProps) {
  if (mean === undefined) return <span className="text-ink-3">–</span>
  return (
    <>
      <span className={classes('block', isEnough ? 'font-semibold' : 'text-ink-3')}>{share(mean)}</span>
      <span className={isEnough ? 'text-ink-2' : 'text-ink-3'}>{bytes(size)}</span>
    </>
  )
}
